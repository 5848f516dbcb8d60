"""Parsers of the XML text of an IR document."""

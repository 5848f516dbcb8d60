"""This room reads the text of an IR document."""

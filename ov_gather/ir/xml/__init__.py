"""How the text of an IR document is read."""

"""Validation. A rule is one function with an id, a severity, documentation and a line in register.py."""

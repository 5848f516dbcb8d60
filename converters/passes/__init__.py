"""The passes of `legalize`, one a file."""

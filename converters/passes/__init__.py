"""The rewrites of `legalize`: one pass a file."""

"""One file = one output format."""

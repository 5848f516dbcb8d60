"""Reports of `ov-gather convert`."""

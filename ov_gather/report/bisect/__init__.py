"""Reports of `ov-gather bisect`."""

"""Reports of `ov-gather bench`."""

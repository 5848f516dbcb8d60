"""Reports of `ov-gather check`, one file per format."""

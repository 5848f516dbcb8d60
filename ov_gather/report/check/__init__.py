"""What `ov-gather check` prints and writes; one file is one format."""

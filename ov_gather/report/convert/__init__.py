"""What `ov-gather convert` prints."""

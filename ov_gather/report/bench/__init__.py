"""What `ov-gather bench` prints."""

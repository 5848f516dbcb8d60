"""This module tells what `ov-gather bench` prints."""

"""This module tells what `ov-gather convert` prints."""

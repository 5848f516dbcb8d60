"""This module tells what `ov-gather diff` prints. One file is one format, with a function `render`."""

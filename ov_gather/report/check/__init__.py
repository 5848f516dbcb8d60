"""This module tells what `ov-gather check` prints and writes. One file is one format."""

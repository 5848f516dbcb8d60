"""Reports of `ov-gather diff`: one file per format, each with a function `render`."""

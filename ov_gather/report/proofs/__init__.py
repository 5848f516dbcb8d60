"""Reports of `ov-gather prove`: one file per format, each with a function `render` from a Report."""

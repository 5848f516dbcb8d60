"""The IR document as data: read it, hold it, write it. Knows no operation and no rule."""

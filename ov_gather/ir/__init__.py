"""This room reads, holds and writes an IR document as data. Nothing here knows an operation or a rule."""

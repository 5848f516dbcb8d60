"""Sizes of no tensor, for tests of the algebra."""

from ov_gather.graph.symbols import Dim


class Letter(Dim):
    """A size that is shown as one word. Part: the word."""

    kind = "dim"

    def __str__(self) -> str:
        return str(self[1])

"""Symbols that analyses make up, beside the sizes of open axes (`ov_gather.graph.symbols`)."""

from __future__ import annotations

from ov_gather.graph.symbols import Symbol, shown_name
from ov_gather.ranges.algebra.polynomials import Polynomial


class UnknownElement(Symbol):
    """An integer that is no size, and so may be as large as its type allows: the element of a tensor that has one.

    Parts: the tensor's name, to show, and what identifies the tensor.
    """

    __slots__ = ()
    kind = "value"

    def __str__(self) -> str:
        return f"value({self[1]})"


class DoubtfulSize(UnknownElement):
    """The size of an axis that may be another than the model says. Parts: the tensor's name, to show, the axis, and its key."""

    __slots__ = ()
    kind = "value of size"

    def __str__(self) -> str:
        return f"value(size along {self[2]} of {self[1]})"


class Count(Symbol):
    """The number of elements of a tensor. Parts: the name, to show, and the number of the tensor that holds it."""

    __slots__ = ()
    kind = "size"

    def __str__(self) -> str:
        return f"size({self[1]})"


class Copied(Symbol):
    """The size that Reshape copies if it is asked for 0, else 0. Parts: the terms of the size asked for, and of the other."""

    __slots__ = ()
    kind = "copied"

    def __str__(self) -> str:
        return f"copied({Polynomial(self[2])} instead of {Polynomial(self[1])})"


class Excess(Symbol):
    """What a size that is at least 1 has beyond 1. Part: the terms of the size."""

    __slots__ = ()
    kind = "beyond 1"

    def __str__(self) -> str:
        return f"beyond 1({Polynomial(self[1])})"


class Elements(Symbol):
    """The elements of an input, each of which is an unknown number. Part: the name of the input."""

    __slots__ = ()
    kind = "elements"

    @property
    def input(self) -> str:
        """The name of the input."""
        name: str = self[1]
        return name

    def __str__(self) -> str:
        return shown_name(self.input)


class Extreme(Symbol):
    """The least or the greatest of some elements, in a condition to be found. Parts: the elements, and which it is."""

    __slots__ = ()
    kind = "extreme"

    @property
    def elements(self) -> Elements:
        """The elements."""
        elements: Elements = self[1]
        return elements

    @property
    def is_greatest(self) -> bool:
        """Return True for the greatest element."""
        return bool(self[2])

    def __str__(self) -> str:
        return f"{'greatest' if self.is_greatest else 'least'}({self.elements})"


class Slack(Symbol):
    """The difference between a size and its symbolic bound. Part: the symbol of the size."""

    __slots__ = ()
    kind = "slack"

    def __str__(self) -> str:
        return f"slack({self[1]})"

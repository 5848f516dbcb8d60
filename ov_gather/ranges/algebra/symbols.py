"""Symbols that analyses make up, beside the sizes of open axes (`ov_gather.graph.symbols`)."""

from __future__ import annotations

from sys import maxsize
from typing import NamedTuple

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


class AxisSlice(NamedTuple):
    """The positions along an axis of `range(size)[start:stop:step]`; `stop` is END for the end of the axis, `step` positive."""

    axis: int
    start: int
    stop: int
    step: int = 1

    def is_apart_from(self, other: AxisSlice | None) -> bool:
        """Return True if no position is in both for certain."""
        if other is None or min(self.start, other.start, self.stop, other.stop) < 0:
            return False
        first, second = sorted((self, other), key=lambda span: span.start)
        is_interleaved = first.step == second.step and (second.start - first.start) % first.step != 0
        return first.stop <= second.start or is_interleaved

    def __str__(self) -> str:
        if self.step == 1 and self.stop == self.start + 1 != 0:
            return str(self.start)
        text = f"{self.start or ''}:{'' if self.stop == END else self.stop}"
        return text if self.step == 1 else f"{text}:{self.step}"


END = maxsize
"""The stop of a span that ends where its axis does."""


class Elements(Symbol):
    """The elements of an input, or of a part of it, each of which is an unknown number.

    Parts: the name of the input, and for a part of it the spans that select it, one an axis, in the order of the axes.
    """

    __slots__ = ()
    kind = "elements"

    @property
    def input(self) -> str:
        """The name of the input."""
        name: str = self[1]
        return name

    @property
    def spans(self) -> tuple[AxisSlice, ...]:
        """The spans that select a part of the input; none for all of it."""
        return self[2] if len(self) > 2 else ()

    def overlaps(self, other: Elements) -> bool:
        """Return True unless no element is in both for certain."""
        axes = {span.axis: span for span in other.spans}
        return self.input == other.input and not any(span.is_apart_from(axes.get(span.axis)) for span in self.spans)

    def __str__(self) -> str:
        by_axis = {span.axis: str(span) for span in self.spans}
        part = ", ".join(by_axis.get(axis, ":") for axis in range(max(by_axis, default=-1) + 1))
        return shown_name(self.input) + (f"[{part}]" if part else "")


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

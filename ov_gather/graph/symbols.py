"""Symbols: the unknown integers that bounds are made of, such as the size of an open axis.

A symbol is known by what it is. It becomes text only where it is shown, with names quoted that would be misread there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing_extensions import Self

_PLAIN = re.compile(r"""[^\s()\[\],'"]+""")
"""Names that are shown as they are: no text of sizes, elements and bounds looks like one."""


def shown_name(name: str) -> str:
    """Return a name as texts of bounds show it: quoted if it would be misread, such as "dim(x, 0)" and "x[0]"."""
    return name if _PLAIN.fullmatch(name) else repr(name)


class Symbol(tuple[Any, ...]):
    """An unknown integer: its kind, and the parts by which it is known among those of its kind.

    A tuple, which Python hashes, compares and sorts fast: analyses do little else. Each kind documents its parts; those of
    one kind are comparable with each other.
    """

    __slots__ = ()
    kind: ClassVar[str]

    def __new__(cls, *parts: Any) -> Self:
        """Build a symbol from its parts."""
        return super().__new__(cls, (cls.kind, *parts))

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return the parts, for copies and pickles."""
        return tuple(self[1:])

    def __repr__(self) -> str:
        return str(self)

    @property
    def is_first(self) -> bool:
        """Return True for the size of a first axis, as a batch is."""
        return False


class Dim(Symbol):
    """The size of an open axis."""

    __slots__ = ()


class OfInputs(Dim):
    """The size of an open axis of inputs of the model, which requests choose and conditions may be about."""

    __slots__ = ()


class InputDim(OfInputs):
    """The size of an axis of one input. Parts: the name of the input, and the axis."""

    __slots__ = ()
    kind = "dim"

    @property
    def is_first(self) -> bool:
        """Return True if it is the size of a first axis."""
        return bool(self[2] == 0)

    def __str__(self) -> str:
        return f"dim({shown_name(self[1])}, {self[2]})"


class NamedDim(OfInputs):
    """A size that an ONNX model names, on one input or several. Part: the name."""

    __slots__ = ()
    kind = "dim by name"

    def __str__(self) -> str:
        return f"dim({shown_name(self[1])})"


class InnerDim(Dim):
    """The size of an axis of a tensor that is no input. Parts: a name to show, the axis, and what identifies the tensor."""

    __slots__ = ()
    kind = "dim within"

    def __str__(self) -> str:
        return f"dim({shown_name(self[1])}, {self[2]})"


class InferredDim(Dim):
    """A size that an ONNX model or shape inference names, on no input. Parts: the name, and the number of the graph."""

    __slots__ = ()
    kind = "dim within by name"

    @property
    def is_global(self) -> bool:
        """Return True if all sizes of this name are equal: those of a body may differ in each execution."""
        return bool(self[2] == 0)

    def __str__(self) -> str:
        return f"dim({shown_name(self[1])})"

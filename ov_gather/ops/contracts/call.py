"""One layer of an operator, as its contract sees it; and what a contract raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from ov_gather.ir.element_types import DYNAMIC, I32, I64, INTEGERS, ElementType, by_name
from ov_gather.ir.shapes import BLANKS, Dimension, PartialShape
from ov_gather.ops.attribute import parse_float, parse_integer

Output = tuple[ElementType | None, PartialShape]
"""The element type and the shape of an output; None is a type that is unknown, or that an attribute names (OVG306)."""
T = TypeVar("T")
Numbers = tuple[float, ...]
MANY = 1024
"""Constants of more elements are no settings of an operator, and are not read."""
_INTEGERS = frozenset(one.name for one in INTEGERS)  # most inputs of a model are asked for


class ContractError(ValueError):
    """A layer breaks the contract of its operator. `port` is the position of the wrong input, None for an attribute."""

    def __init__(self, reason: str, hint: str = "", port: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.port = reason, hint, port


class BadValueError(ContractError):
    """An attribute, or a constant input that acts as one, has a value that is not allowed."""


class BadTypeError(ContractError):
    """An input has an element type that is not allowed."""


class BadRankError(ContractError):
    """An input has a number of dimensions that is not allowed."""


class BadSizeError(ContractError):
    """An input has a size that is not allowed."""


class BadCountError(ContractError):
    """The layer has too few inputs, or too many."""


class UnjudgedError(Exception):
    """The rest cannot be judged: something is open, or another rule reports it."""


def _wholes(text: str) -> tuple[int, ...]:
    return tuple(parse_integer(part.strip(BLANKS)) for part in text.split(",") if text)


_few_wholes = lru_cache(maxsize=256)(_wholes)
"""The same for short texts, since many layers have the same masks, strides, pads."""
_SHORT = 64


@dataclass(frozen=True, slots=True)
class Call:
    """A layer with what it is given.

    Attributes:
        type: as <layer type> writes it.
        opset: the number of its opset.
        attributes: as the document writes them.
        types, shapes: of the inputs; None is an unknown type.
        constant: the numbers of an input, flat, if it is known, and has at most MANY; else None.
        output_ports: how many outputs the layer declares.
    """

    type: str
    opset: int
    attributes: Mapping[str, str]
    types: Sequence[ElementType | None]
    shapes: Sequence[PartialShape]
    constant: Callable[[int], Numbers | None]
    output_ports: int = 0

    # Attributes

    def whole(self, name: str, default: int = 0) -> int:
        """Return an integer attribute."""
        return self._read(name, parse_integer, default)

    def number(self, name: str, default: float = 0.0) -> float:
        """Return an attribute that is a number."""
        return self._read(name, parse_float, default)

    def word(self, name: str, default: str = "") -> str:
        """Return a word, in lower case."""
        return self.attributes.get(name, default).lower()

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a boolean attribute."""
        return self.word(name, str(default)) in ("true", "1")

    def wholes(self, name: str) -> tuple[int, ...]:
        """Return a list of integers; empty if it is missing."""
        return self._read(name, _few_wholes if len(self.attributes.get(name, "")) < _SHORT else _wholes, ())

    def numbers(self, name: str) -> tuple[float, ...]:
        """Return a list of numbers; empty if it is missing."""
        return self._read(name, lambda text: tuple(parse_float(part.strip(BLANKS)) for part in text.split(",") if text), ())

    def whole_from(self, least: int, name: str, default: int | None = None) -> int:
        """Return an integer attribute; by default `least`. Raises BadValueError if it is below that."""
        value = self.whole(name, least if default is None else default)
        self.at_least(name, value, least)
        return value

    def one_of(self, name: str, default: str, *allowed: str) -> str:
        """Return a word as it is written. Raises BadValueError if it is none of these."""
        word = self.attributes.get(name, default)
        if word not in allowed:
            raise BadValueError(f"{name}='{word[:40]}' is unknown", f"one of {', '.join(allowed)}")
        return word

    def _read(self, name: str, parse: Callable[[str], T], default: T) -> T:
        if name not in self.attributes:
            return default
        try:
            return parse(self.attributes[name])
        except ValueError:  # OVG203 reports it
            raise UnjudgedError from None

    def element_type(self, name: str, default: ElementType | None = None) -> ElementType | None:
        """Return the element type that an attribute names."""
        return by_name(self.attributes[name]) if name in self.attributes else default

    # Inputs

    @property
    def count(self) -> int:
        """The number of inputs."""
        return len(self.shapes)

    def dims(self, port: int) -> tuple[Dimension, ...] | None:
        """Return the dimensions of an input; None if its rank is open, or it is missing."""
        return self.shapes[port].dims if port < self.count else None

    def rank(self, port: int) -> int | None:
        """Return the rank of an input; None if it is open."""
        return self.shapes[port].rank if port < self.count else None

    def length(self, port: int) -> int | None:
        """Return the number of elements of an input that is a list, or a scalar; None if it is open."""
        dims = self.dims(port)
        if dims is None or len(dims) > 1:
            return None
        return 1 if not dims else dims[0].lower if dims[0].is_static else None

    def kind(self, port: int) -> ElementType | None:
        """Return the element type of an input; None if it is unknown, or dynamic."""
        found = self.types[port] if port < len(self.types) else None
        return None if found is DYNAMIC else found

    def wholes_of(self, port: int) -> tuple[int, ...] | None:
        """Return the integers of an input, flat; None if it is no constant of few."""
        kind = self.kind(port)
        found = self.constant(port) if kind is not None and kind.name in _INTEGERS else None
        return None if found is None else tuple(map(int, found))

    # Demands

    def axis(self, value: int, rank: int | None, name: str = "axis", port: int | None = None) -> int:
        """Return an axis that counts from the start. Raises BadValueError; UnjudgedError if the rank is open."""
        if rank is None:
            raise UnjudgedError
        if not -rank <= value < rank:
            allowed = f"it may be {-rank} to {rank - 1}" if rank else "a scalar has no axis"
            raise BadValueError(f"{name} is {value}, out of range for rank {rank}", allowed, port)
        return value % rank

    def axes(self, values: Sequence[int], rank: int | None, name: str = "axes", port: int | None = None) -> list[int]:
        """Return axes that count from the start, each once. Raises BadValueError, UnjudgedError."""
        found = [self.axis(value, rank, name, port) for value in values]
        if len(set(found)) < len(found):
            raise BadValueError(f"{name} are {list(values)}, one of them twice", "name each axis once", port)
        return found

    def at_least(self, name: str, value: float, least: float) -> None:
        """Raise BadValueError if an attribute is too small."""
        if value < least:
            raise BadValueError(f"{name}={value:g} is out of range", f"it is {least:g} or more")

    def index_type(self, name: str, default: ElementType = I64) -> None:
        """Raise BadValueError if an attribute names a type of indices that is neither i32 nor i64."""
        kind = self.element_type(name, default)
        if kind not in (I32, I64):
            raise BadValueError(f"{name} is {kind}", "i32 or i64")

    def takes(self, port: int, allowed: Sequence[ElementType], name: str) -> None:
        """Raise BadTypeError if an input has another element type than these."""
        kind = self.kind(port)
        if kind is not None and kind not in allowed:
            words = ", ".join(map(str, allowed))
            raise BadTypeError(f"{name} has element type {kind}", f"{self.type} takes {words} here", port)

    def takes_integers(self, port: int, name: str) -> None:
        """Raise BadTypeError if an input is not of integers."""
        kind = self.kind(port)
        if kind is not None and kind.name not in _INTEGERS:
            self.takes(port, INTEGERS, name)

    def has_rank(self, port: int, name: str, *allowed: int) -> None:
        """Raise BadRankError if an input has another rank than these."""
        rank = self.rank(port)
        if rank is not None and rank not in allowed:
            words = " or ".join(map(str, allowed)) if len(allowed) < 4 else f"{allowed[0]} to {allowed[-1]}"
            raise BadRankError(f"{name} has rank {rank}", f"{self.type} takes rank {words} here", port)

    def same_type(self, *ports: int) -> ElementType | None:
        """Return the element type that inputs share. Raises BadTypeError if they differ."""
        found: ElementType | None = None
        for port in ports:
            kind = self.kind(port)
            if found is not None and kind is not None and kind is not found:
                reason = f"input {port} has element type {kind}, others have {found}"
                raise BadTypeError(reason, f"{self.type} takes the same type for both", port)
            found = found or kind
        return found

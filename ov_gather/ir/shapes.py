"""Dimensions and shapes that are static, dynamic or intervals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_DIMENSION = 2**63 - 1
"""Largest dimension, and largest number of elements of a shape: both are int64 in OpenVINO."""

_SHOWN = 32
"""Maximum number of dimensions that are shown of a shape."""

BLANKS = " \t\r\n"

_DIMENSION = re.compile(r"(?P<any>\?|-1)|(?P<lower>\d{1,19})?(?P<dots>\.\.)?(?P<upper>\d{1,19})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Dimension:
    """All sizes from `lower` to `upper`, both included; `upper` None = no upper bound."""

    lower: int = 0
    upper: int | None = None

    @classmethod
    def of(cls, size: int) -> Dimension:
        """Return a static dimension, or ANY for -1, as ports write it."""
        return ANY if size == -1 else cls(size, size)

    @property
    def is_static(self) -> bool:
        """True if exactly one size is possible."""
        return self.lower == self.upper

    def __contains__(self, size: int) -> bool:
        return self.lower <= size and (self.upper is None or size <= self.upper)

    def intersect(self, other: Dimension) -> Dimension | None:
        """Return the sizes that both dimensions allow; None if there are none."""
        if self.lower == other.lower and self.upper == other.upper:
            return self
        lower = max(self.lower, other.lower)
        uppers = [upper for upper in (self.upper, other.upper) if upper is not None]
        upper = min(uppers, default=None)
        return None if upper is not None and lower > upper else Dimension(lower, upper)

    def closest_to(self, size: int) -> int:
        """Clamp a size to the dimension."""
        return max(self.lower, size if self.upper is None else min(size, self.upper))

    def __str__(self) -> str:
        if self.is_static:
            return str(self.lower)
        if self.upper is None:
            return f"{self.lower}.." if self.lower else "?"
        return f"{self.lower}..{self.upper}"

    @classmethod
    def parse(cls, text: str) -> Dimension:
        """Parse "3", "?", "-1", "1..5", "1.." or "..5". Raises ValueError."""
        match = _DIMENSION.fullmatch(text.strip(BLANKS))
        if not match or not match[0] or match[0] == "..":
            raise ValueError(f"'{text.strip(BLANKS)}' is not a dimension: 3, ?, 1..5, 1.. and ..5 are")
        if match["any"]:
            return ANY
        lower = int(match["lower"] or 0)
        upper = int(match["upper"]) if match["upper"] else None if match["dots"] else lower
        if max(lower, upper or 0) > MAX_DIMENSION:
            raise ValueError(f"dimension '{text.strip(BLANKS)}' is larger than 2^63-1")
        if upper is not None and lower > upper:
            raise ValueError(f"the interval '{text.strip(BLANKS)}' is empty")
        return cls(lower, upper)


ANY = Dimension()


@dataclass(frozen=True, slots=True)
class PartialShape:
    """A shape whose dimensions, or even rank (`dims` None), may be open."""

    dims: tuple[Dimension, ...] | None

    @classmethod
    def of(cls, sizes: Iterable[int]) -> PartialShape:
        """Return a shape with these sizes, where -1 is any size, as ports write them."""
        return cls(tuple(map(Dimension.of, sizes)))

    @classmethod
    @lru_cache(maxsize=256)  # many layers have the same shape
    def parse(cls, text: str) -> PartialShape:
        """Parse the `shape` attribute of a Parameter or Const: "", "...", "?,3", "[1..10, 3]". Raises ValueError."""
        text = text.strip(BLANKS)
        if text.startswith("[") and text.endswith("]"):
            text = text[1:-1].strip(BLANKS)
        if text == "...":
            return UNKNOWN
        return cls(tuple(map(Dimension.parse, text.split(","))) if text else ())

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if open."""
        return None if self.dims is None else len(self.dims)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The dimensions as ports write them: -1 where open. Empty for an open rank."""
        return tuple(dim.lower if dim.is_static else -1 for dim in self.dims or ())

    @property
    def is_static(self) -> bool:
        """True if the rank and every dimension are known."""
        return self.dims is not None and all(dim.is_static for dim in self.dims)

    def __contains__(self, sizes: tuple[int, ...]) -> bool:
        return self.dims is None or (
            len(sizes) == len(self.dims) and all(size in dim for size, dim in zip(sizes, self.dims, strict=True))
        )

    def intersect(self, other: PartialShape) -> PartialShape | None:
        """Return the shapes that both allow; None if there are none."""
        if self.dims is None or other.dims is None:
            return other if self.dims is None else self
        if len(self.dims) != len(other.dims):
            return None
        dims = [mine.intersect(its) for mine, its in zip(self.dims, other.dims, strict=True)]
        return None if None in dims else PartialShape(tuple(dim for dim in dims if dim is not None))

    def __str__(self) -> str:
        return "[...]" if self.dims is None else listed(self.dims, ",")

    def attribute(self) -> str:
        """Format the shape as the `shape` attribute of a Parameter."""
        return "..." if self.dims is None else ",".join(map(str, self.dims))


UNKNOWN = PartialShape(None)


def listed(dims: Sequence[object], separator: str = ", ") -> str:
    """Return dimensions for people: the first ones of very many."""
    more = f"{separator}... ({len(dims):,} dimensions)" if len(dims) > _SHOWN else ""
    return f"[{separator.join(map(str, dims[:_SHOWN]))}{more}]"


def element_count(sizes: Iterable[int]) -> int:
    """Return the number of elements of a shape, with open dimensions (-1) as 1. Stops multiplying above 2^63-1."""
    count = 1
    for size in sizes:
        if size == 0:
            return 0
        if size != -1 and count <= MAX_DIMENSION:
            count *= size
    return count

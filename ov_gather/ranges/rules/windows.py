"""Windows that convolutions and pooling move over an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ov_gather.ranges.algebra.intervals import Algebra
from ov_gather.ranges.algebra.polynomials import Polynomial


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows along each spatial axis.

    Attributes:
        strides, dilations: distances between windows, and between the elements of one.
        padding: the elements that are added to an axis, on both sides together.
        kernel: the elements of a window.
        rounds_up: True if a last window may reach beyond the end.
    """

    strides: Sequence[int]
    dilations: Sequence[int]
    padding: Sequence[int]
    kernel: Sequence[int] = ()
    rounds_up: bool = False

    def number(self, algebra: Algebra, axis: int, dim: Polynomial, length: Polynomial) -> Polynomial | None:
        """Return how many windows of `length` elements fit; None if the first one may not, or the number is no polynomial."""
        rest = dim + self.padding[axis] - (length - 1) * self.dilations[axis] - 1
        if algebra.sizes.least(rest) < 0:
            return None
        stride = self.strides[axis]
        quotient = algebra.divide(algebra.exact(rest + (stride - 1 if self.rounds_up else 0)), algebra.exact(stride)).exactly
        return None if quotient is None else quotient + 1


def windows(attributes: Mapping[str, str]) -> Windows | None:
    """Return the windows of an operation of OpenVINO; None if it pads automatically, or counts them in another way.

    PyTorch's rounding up drops a window that starts in the padding at the end, of which there is none without padding.
    """
    strides, begin, end, kernel = (_numbers(attributes, name) for name in ("strides", "pads_begin", "pads_end", "kernel"))
    dilations = _numbers(attributes, "dilations") or [1] * len(strides)
    padding = [before + behind for before, behind in zip(begin, end, strict=False)]
    auto_pad, rounding = attributes.get("auto_pad", "explicit").lower(), attributes.get("rounding_type", "floor").lower()
    if auto_pad == "valid":
        padding = [0] * len(strides)
    is_like_torch = rounding == "ceil_torch"
    drops = is_like_torch and (any(padding) or any(length < by for length, by in zip(kernel, strides, strict=False)))
    if auto_pad.startswith("same") or drops or not strides or not len(strides) == len(dilations) == len(padding):
        return None
    return Windows(strides, dilations, padding, kernel, rounds_up=rounding != "floor")


def _numbers(attributes: Mapping[str, str], name: str) -> list[int]:
    return [int(word) for word in attributes.get(name, "").split(",") if word.strip()]

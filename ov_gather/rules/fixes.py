"""Fixes of findings, in terms of the document: an attribute, dims, bytes of the .bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """Set an attribute of the finding's <layer>, of its <data>, or of the <port>; remove it if the value is None."""

    element: Literal["layer", "data", "port"]
    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class SetDims:
    """Set the dims of the finding's port."""

    dims: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumberPorts:
    """Renumber the inputs and outputs of the layer in document order, in its ports and in the edges."""


@dataclass(frozen=True, slots=True)
class WriteWeights:
    """Overwrite bytes of the .bin."""

    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class CutWeights:
    """Truncate the .bin to `size` bytes."""

    size: int


Step = SetAttribute | SetDims | NumberPorts | WriteWeights | CutWeights


@dataclass(frozen=True, slots=True)
class Fix:
    """A single step. It is safe if it changes nothing that OpenVINO computes."""

    step: Step
    safe: bool = True

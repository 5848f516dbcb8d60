"""A fix says how a finding is mended, in terms of the document: which attribute, which dims, which bytes of the .bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """Give an attribute of the <layer>, of its <data>, or of the <port> of the finding a value; None takes it away."""

    element: Literal["layer", "data", "port"]
    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class SetDims:
    """Give the port of the finding these dims."""

    dims: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumberPorts:
    """Number the inputs and outputs of the layer as they stand, in its ports and in the edges."""


@dataclass(frozen=True, slots=True)
class WriteWeights:
    """Write bytes into the .bin."""

    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class CutWeights:
    """Cut the .bin off behind so many bytes."""

    size: int


Step = SetAttribute | SetDims | NumberPorts | WriteWeights | CutWeights


@dataclass(frozen=True, slots=True)
class Fix:
    """A Fix is one step. A safe one changes nothing that OpenVINO computes."""

    step: Step
    safe: bool = True

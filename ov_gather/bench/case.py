"""A case: one operation on certain arrays, as each contender's user would write it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Run = Callable[[], Any]
Create = Callable[[str, list[Any], dict[str, Any]], Any]
"""Makes a node of the opset `ov_gather` of a type, inputs and attributes."""


@dataclass(frozen=True)
class Case(ABC):
    """A `Run` returns its result: `out`, where the contender can write to an array that is there."""

    name: str
    data: NDArray[Any]
    own_indices: NDArray[Any]
    constant_indices: bool = field(default=False, kw_only=True)

    group: str = field(default="", kw_only=True)
    """What is averaged together."""

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """What a model gets, in order."""
        return {"data": self.data, "indices": self.own_indices}

    @property
    def bytes_moved(self) -> int:
        """Read once: the indices, and an element of data for each output; written once: the output."""
        return self.own_indices.nbytes + 2 * prod(self.shape) * self.data.itemsize

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""

    @abstractmethod
    def numpy(self) -> NDArray[Any]:
        """Return the right output by NumPy, which is a contender, too."""

    def places(self) -> NDArray[np.int32]:
        """Return which element of data each element of the output is, counted from the first one."""
        numbered = np.arange(self.data.size, dtype=np.int32).reshape(self.data.shape)
        return np.asarray(replace(self, data=numbered).numpy())

    @abstractmethod
    def limits(self, out: NDArray[Any]) -> Iterator[Run]:
        """Yield the ways to do the same without indices and checks, of which the fastest is the limit."""

    @abstractmethod
    def kernel(self, out: NDArray[Any]) -> Run:
        """Return a call of our function from Python."""

    @abstractmethod
    def torch(self, out: Any, *inputs: Any) -> Run:
        """Return a call of torch, in the fastest of its ways."""

    @abstractmethod
    def onnx(self) -> Sequence[Any]:
        """Return the ONNX nodes that lead from the inputs to "output"."""

    @abstractmethod
    def openvino(self, *inputs: Any) -> Any:
        """Return the node of OpenVINO's own operation."""

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Our operation inside OpenVINO. Raises LookupError where there is none."""
        raise LookupError("there is no such operation of ours")


def onnx_constant(name: str, values: Sequence[int]) -> Any:
    """Return a Constant node, int64."""
    from onnx import helper, numpy_helper

    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(values, np.int64)))

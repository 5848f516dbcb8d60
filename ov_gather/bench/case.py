"""Benchmark cases: an operation on given arrays, as users of each contender would write it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Run = Callable[[], Any]
Create = Callable[[str, list[Any], dict[str, Any]], Any]
"""Creates a node of opset `ov_gather` from type, inputs and attributes."""


@dataclass(frozen=True)
class BenchCase(ABC):
    """An operation and its arrays. A `Run` returns the result: `out`, if the contender can write to it."""

    name: str
    data: NDArray[Any]
    own_indices: NDArray[Any]
    constant_indices: bool = field(default=False, kw_only=True)

    group: str = field(default="", kw_only=True)
    """Cases of the same group are averaged."""

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """The inputs of a model, in order."""
        return {"data": self.data, "indices": self.own_indices}

    @property
    def bytes_moved(self) -> int:
        """Bytes read (the indices, and one element of data per output) and written (the output), each once."""
        return self.own_indices.nbytes + 2 * prod(self.shape) * self.data.itemsize

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""

    @abstractmethod
    def numpy(self) -> NDArray[Any]:
        """Return the expected output, computed by NumPy, which is also a contender."""

    @abstractmethod
    def kernel(self, out: NDArray[Any]) -> Run:
        """Return a call of our Python function."""

    @abstractmethod
    def torch(self, out: Any, *inputs: Any) -> Run:
        """Return a call of torch's fastest equivalent."""

    @abstractmethod
    def jax(self, mode: str) -> Callable[..., Any]:
        """Return a function of JAX arrays, to be compiled; `mode` says what is done with indices out of bounds."""

    @abstractmethod
    def onnx(self) -> Sequence[Any]:
        """Return ONNX nodes from the inputs to "output"."""

    @abstractmethod
    def openvino(self, *inputs: Any) -> Any:
        """Return the node of OpenVINO's operation."""

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return the node of our OpenVINO operation. Raises LookupError if there is none."""
        raise LookupError("there is no such operation of ours")


def seconds_of(run: Run) -> float:
    """Return the duration of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def opset() -> Any:
    """Return OpenVINO's opset13. Raises ImportError if OpenVINO is not installed."""
    from ov_gather.extension.python_api import opset13

    return opset13


def onnx_node(operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> Any:
    """Return an ONNX node with one output."""
    from onnx import helper

    return helper.make_node(operator, inputs, [output], **attributes)


def onnx_constant(name: str, values: Sequence[int]) -> Any:
    """Return an int64 Constant node."""
    from onnx import numpy_helper

    return onnx_node("Constant", [], name, value=numpy_helper.from_array(np.array(values, np.int64)))

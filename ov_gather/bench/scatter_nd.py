"""Benchmark case of ScatterND (ScatterNDUpdate in OpenVINO)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ov_gather.bench.case import Create, Run
from ov_gather.bench.scatter import Scatter


@dataclass(frozen=True)
class ScatterND(Scatter):
    """A ScatterND that replaces rows of a matrix. No row occurs twice."""

    def numpy(self) -> NDArray[Any]:
        """Assign to a copy by array indexing."""
        output = self.data.copy()
        output[self.own_indices[:, 0]] = self.updates
        return output

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function with `out`."""
        from ov_gather import scatter_nd

        return lambda: scatter_nd(self.data, self.own_indices, self.updates, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `torch.index_copy` with `out`."""
        import torch

        data, indices, updates = inputs
        rows = indices[:, 0]
        return lambda: torch.index_copy(data, 0, rows, updates, out=out)

    def onnx(self) -> Sequence[Any]:
        """Return ScatterND."""
        from onnx import helper

        return [helper.make_node("ScatterND", ["data", "indices", "updates"], ["output"])]

    def openvino(self, *inputs: Any) -> Any:
        """Return ScatterNDUpdate-3."""
        from ov_gather.extension.python_api import opset13 as ops

        return ops.scatter_nd_update(*inputs)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation, which checks indices and applies updates in order."""
        return create("ScatterND", list(inputs), {"reduction": "none"})

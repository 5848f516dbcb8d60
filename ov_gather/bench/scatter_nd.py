"""ScatterND; ScatterNDUpdate in OpenVINO."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import Create, Run
from ov_gather.bench.limit import scatters
from ov_gather.bench.scatter import Scatter


@dataclass(frozen=True)
class ScatterND(Scatter):
    """Rows of data, which has two dimensions, are replaced. No row occurs twice."""

    def places(self) -> NDArray[np.int32]:
        """Return which element of the output each update is for."""
        numbered = np.arange(self.data.size, dtype=np.int32).reshape(self.shape)
        return np.take(numbered, self.own_indices[:, 0], axis=0)

    def numpy(self) -> NDArray[Any]:
        """Fancy indexing of a copy."""
        output = self.data.copy()
        output[self.own_indices[:, 0]] = self.updates
        return output

    def limits(self, out: NDArray[Any]) -> Iterator[Run]:
        """Copy data, then put updates at offsets."""
        return scatters(self.data, self.places(), self.updates, out, 0, False)

    def kernel(self, out: NDArray[Any]) -> Run:
        """Our function, which writes to `out`."""
        from ov_gather import scatter_nd

        return lambda: scatter_nd(self.data, self.own_indices, self.updates, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """`torch.index_copy` with `out`."""
        import torch

        data, indices, updates = inputs
        rows = indices[:, 0]
        return lambda: torch.index_copy(data, 0, rows, updates, out=out)

    def onnx(self) -> Sequence[Any]:
        """ScatterND."""
        from onnx import helper

        return [helper.make_node("ScatterND", ["data", "indices", "updates"], ["output"])]

    def openvino(self, *inputs: Any) -> Any:
        """ScatterNDUpdate-3."""
        from ov_gather.extension.python_api import opset13 as ops

        return ops.scatter_nd_update(*inputs)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Our operation inside OpenVINO, which checks indices and makes updates in order."""
        return create("ScatterND", list(inputs), {"reduction": "none"})

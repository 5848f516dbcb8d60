"""Benchmark case of GatherND."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase, Create, Run


@dataclass(frozen=True)
class GatherND(BenchCase):
    """A GatherND with one batch dimension."""

    @property
    def shape(self) -> tuple[int, ...]:
        """One slice of data per tuple."""
        return self.own_indices.shape[:-1] + self.data.shape[1 + self.own_indices.shape[-1] :]

    def numpy(self) -> NDArray[Any]:
        """Index by arrays."""
        batch = np.arange(len(self.data)).reshape(-1, *[1] * (self.own_indices.ndim - 2))
        slices: NDArray[Any] = self.data[(batch, *np.moveaxis(self.own_indices, -1, 0))]
        return slices

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function with `out`."""
        from ov_gather import gather_nd

        return lambda: gather_nd(self.data, self.own_indices, 1, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Index by tensors."""
        import torch

        data, indices = inputs
        batch = torch.arange(len(data)).reshape(-1, *[1] * (indices.ndim - 2))
        return lambda: data[(batch, *indices.unbind(-1))]

    def onnx(self) -> Sequence[Any]:
        """Return GatherND."""
        from onnx import helper

        return [helper.make_node("GatherND", ["data", "indices"], ["output"], batch_dims=1)]

    def openvino(self, *inputs: Any) -> Any:
        """Return GatherND-8."""
        from ov_gather.extension.python_api import opset13 as ops

        return ops.gather_nd(*inputs, 1)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation."""
        return create("GatherND", list(inputs), {"batch_dims": 1})

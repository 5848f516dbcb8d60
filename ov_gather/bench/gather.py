"""Benchmark case of Gather."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase, Create, Run, onnx_constant


@dataclass(frozen=True)
class Gather(BenchCase):
    """A Gather whose `batch_dims` is 0 or equal to `axis`."""

    axis: int
    batch_dims: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Data's shape, with the axis replaced by the dimensions of indices."""
        return self.data.shape[: self.axis] + self.own_indices.shape[self.batch_dims :] + self.data.shape[self.axis + 1 :]

    def numpy(self) -> NDArray[Any]:
        """Call `np.take`, or index by arrays if there is a batch; neither is fast with `out`."""
        if not self.batch_dims:
            return np.take(self.data, self.own_indices, self.axis)
        slices: NDArray[Any] = self.data[(*_batch(self.own_indices, self.batch_dims), self.own_indices)]
        return slices

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function with `out`."""
        from ov_gather import gather

        return lambda: gather(self.data, self.own_indices, self.axis, self.batch_dims, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `torch.index_select`; with a batch, index by tensors, which is faster than `torch.take_along_dim`."""
        import torch

        data, indices = inputs
        if self.batch_dims:
            places = (*map(torch.from_numpy, _batch(self.own_indices, self.batch_dims)), indices)
            return lambda: data[places]
        flat = indices.flatten()
        rows = out.view(*self.data.shape[: self.axis], flat.numel(), *self.data.shape[self.axis + 1 :])
        return lambda: torch.index_select(data, self.axis, flat, out=rows).view(self.shape)

    def onnx(self) -> Sequence[Any]:
        """Return Gather; with a batch GatherND, since ONNX Gather has no batches."""
        from onnx import helper

        if not self.batch_dims:
            return [helper.make_node("Gather", ["data", "indices"], ["output"], axis=self.axis)]
        return [
            onnx_constant("last", [-1]),
            helper.make_node("Unsqueeze", ["indices", "last"], ["tuples"]),
            helper.make_node("GatherND", ["data", "tuples"], ["output"], batch_dims=self.batch_dims),
        ]

    def openvino(self, *inputs: Any) -> Any:
        """Return Gather-8."""
        from ov_gather.extension.python_api import opset13 as ops

        return ops.gather(*inputs, ops.constant(self.axis), self.batch_dims)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation, which raises for an index out of bounds."""
        from ov_gather.extension.python_api import opset13 as ops

        return create("Gather", [*inputs, ops.constant(self.axis).output(0)], {"batch_dims": self.batch_dims})


def _batch(indices: NDArray[Any], batch_dims: int) -> list[NDArray[Any]]:
    """Return broadcastable indices of the batch dimensions."""
    shape = [size if i < batch_dims else 1 for i, size in enumerate(indices.shape)]
    return list(np.ix_(*map(np.arange, shape)))[:batch_dims]

"""Benchmark cases of GatherElements, Gather and GatherND."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase, Create, Run, onnx_constant, onnx_node, opset
from ov_gather.kernels.gather import gather
from ov_gather.kernels.gather_elements import gather_elements
from ov_gather.kernels.gather_nd import gather_nd


@dataclass(frozen=True)
class GatherElements(BenchCase):
    """A GatherElements; `own_indices` are the indices before they are expanded to the shape of the output."""

    output: tuple[int, ...]
    axis: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the expanded indices."""
        return self.output

    @property
    def indices(self) -> NDArray[Any]:
        """The indices in the shape of the output, as a stride-0 view if they are expanded."""
        return np.broadcast_to(self.own_indices, self.shape)

    @property
    def is_expanded(self) -> bool:
        """True if the indices are smaller than the output."""
        return self.own_indices.shape != self.shape

    def numpy(self) -> NDArray[Any]:
        """Call `np.take_along_axis`, which has no `out`."""
        return np.take_along_axis(self.data, self.indices, self.axis)

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function, which accepts expanded indices as a view."""
        indices = self.indices
        return lambda: gather_elements(self.data, indices, self.axis, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `torch.gather` on indices enlarged by `expand`."""
        import torch

        data, indices = inputs[0], inputs[1].expand(self.shape)
        return lambda: torch.gather(data, self.axis, indices, out=out)

    def jax(self, mode: str) -> Callable[..., Any]:
        """Return `take_along_axis`, which expands indices itself."""
        from jax.numpy import take_along_axis

        return lambda data, indices: take_along_axis(data, indices, self.axis, mode=mode)

    def onnx(self) -> Sequence[Any]:
        """Return GatherElements, after an Expand if indices are expanded."""
        if not self.is_expanded:
            return [onnx_node("GatherElements", ["data", "indices"], "output", axis=self.axis)]
        return [
            onnx_constant("shape", self.shape),
            onnx_node("Expand", ["indices", "shape"], "expanded"),
            onnx_node("GatherElements", ["data", "expanded"], "output", axis=self.axis),
        ]

    def openvino(self, *inputs: Any) -> Any:
        """Return GatherElements-6, after a Broadcast if indices are expanded."""
        data, indices = inputs
        expanded = opset().broadcast(indices, opset().constant(np.array(self.shape))) if self.is_expanded else indices
        return opset().gather_elements(data, expanded, self.axis)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation, which broadcasts indices itself."""
        return create("GatherElements", list(inputs), {"axis": self.axis, "broadcast": self.is_expanded})


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

    def jax(self, mode: str) -> Callable[..., Any]:
        """Return indexing along the axis, mapped over the batch."""
        from jax import vmap

        places = (slice(None),) * (self.axis - self.batch_dims)

        def indexed(data: Any, indices: Any) -> Any:
            return data.at[(*places, indices)].get(mode=mode)

        for _ in range(self.batch_dims):
            indexed = vmap(indexed)
        return indexed

    def onnx(self) -> Sequence[Any]:
        """Return Gather; with a batch GatherND, since ONNX Gather has no batches."""
        if not self.batch_dims:
            return [onnx_node("Gather", ["data", "indices"], "output", axis=self.axis)]
        return [
            onnx_constant("last", [-1]),
            onnx_node("Unsqueeze", ["indices", "last"], "tuples"),
            onnx_node("GatherND", ["data", "tuples"], "output", batch_dims=self.batch_dims),
        ]

    def openvino(self, *inputs: Any) -> Any:
        """Return Gather-8."""
        return opset().gather(*inputs, opset().constant(self.axis), self.batch_dims)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation, which raises for an index out of bounds."""
        return create("Gather", [*inputs, opset().constant(self.axis).output(0)], {"batch_dims": self.batch_dims})


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
        return lambda: gather_nd(self.data, self.own_indices, 1, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Index by tensors."""
        import torch

        data, indices = inputs
        batch = torch.arange(len(data)).reshape(-1, *[1] * (indices.ndim - 2))
        return lambda: data[(batch, *indices.unbind(-1))]

    def jax(self, mode: str) -> Callable[..., Any]:
        """Return indexing by arrays, mapped over the batch."""
        from jax import vmap
        from jax.numpy import moveaxis

        mapped: Callable[..., Any] = vmap(lambda data, tuples: data.at[tuple(moveaxis(tuples, -1, 0))].get(mode=mode))
        return mapped

    def onnx(self) -> Sequence[Any]:
        """Return GatherND."""
        return [onnx_node("GatherND", ["data", "indices"], "output", batch_dims=1)]

    def openvino(self, *inputs: Any) -> Any:
        """Return GatherND-8."""
        return opset().gather_nd(*inputs, 1)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation."""
        return create("GatherND", list(inputs), {"batch_dims": 1})


def _batch(indices: NDArray[Any], batch_dims: int) -> list[NDArray[Any]]:
    """Return broadcastable indices of the batch dimensions."""
    shape = [size if i < batch_dims else 1 for i, size in enumerate(indices.shape)]
    return list(np.ix_(*map(np.arange, shape)))[:batch_dims]

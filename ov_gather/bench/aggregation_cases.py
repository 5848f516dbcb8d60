"""Benchmark cases of the aggregation of graph networks: a gather of rows, and a scatter that sums them by another index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase, Create, Run, onnx_constant, onnx_node, opset
from ov_gather.kernels.gather_scatter import gather_scatter


@dataclass(frozen=True)
class Aggregation(BenchCase):
    """The sum of the rows of the sources of all edges to a node; there are as many rows in the output as in data."""

    targets: NDArray[Any]

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """The inputs of a gather, and the targets."""
        return {**super().inputs, "targets": self.targets.astype(self.own_indices.dtype)}

    @property
    def bytes_moved(self) -> int:
        """The bytes of all indices, of a row of data for each edge, and of the output."""
        rows = self.own_indices.size + self.data.shape[0]
        return int(2 * self.own_indices.nbytes + rows * self.data.shape[1] * self.data.itemsize)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of data."""
        return self.data.shape

    def numpy(self) -> NDArray[Any]:
        """Call `np.add.at`."""
        output = np.zeros_like(self.data)
        np.add.at(output, self.targets, self.data[self.own_indices])
        return output

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function with `out`."""
        sources, targets = list(self.inputs.values())[1:]
        return lambda: gather_scatter(self.data, sources, targets, len(self.data), out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `index_select` and `scatter_add`, as PyTorch Geometric does."""
        import torch

        data, sources, targets = inputs
        indices, zeros = targets.long()[:, None].expand(-1, data.shape[1]), torch.zeros_like(data)
        return lambda: torch.scatter_add(zeros, 0, indices, data.index_select(0, sources), out=out)

    def jax(self, mode: str) -> Callable[..., Any]:
        """Return a gather, and an update of rows of zeros."""
        from jax.numpy import zeros_like

        return lambda data, sources, targets: zeros_like(data).at[targets].add(data.at[sources].get(mode=mode), mode=mode)

    def onnx(self) -> Sequence[Any]:
        """Return Gather, and ScatterElements of expanded indices: threads of onnxruntime's ScatterND race for a row."""
        return [
            onnx_constant("last", [1]),
            onnx_node("Unsqueeze", ["targets", "last"], "column"),
            onnx_constant("expanded", (self.targets.size, self.data.shape[1])),
            onnx_node("Expand", ["column", "expanded"], "rows"),
            onnx_constant("shape", self.shape),
            onnx_node("ConstantOfShape", ["shape"], "zeros"),
            onnx_node("Gather", ["data", "indices"], "messages"),
            onnx_node("ScatterElements", ["zeros", "rows", "messages"], "output", reduction="add"),
        ]

    def openvino(self, *inputs: Any) -> Any:
        """Return Gather-8 and ScatterElementsUpdate-12 of expanded indices, as exports of graph networks have them."""
        data, sources, targets = inputs
        messages = opset().gather(data, sources, opset().constant(0))
        shape = opset().constant(np.array([self.targets.size, self.data.shape[1]]))
        indices = opset().broadcast(opset().unsqueeze(targets, opset().constant(1)), shape)
        return opset().scatter_elements_update(self._zeros(), indices, messages, opset().constant(0), "sum")

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our GatherScatter."""
        return create("GatherScatter", list(inputs), {"size": len(self.data), "bounds": "error"})

    def _zeros(self) -> Any:
        return opset().constant(np.zeros_like(self.data))

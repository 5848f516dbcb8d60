"""Benchmark case of GatherElements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase, Create, Run, onnx_constant


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
        from ov_gather import gather_elements

        indices = self.indices
        return lambda: gather_elements(self.data, indices, self.axis, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `torch.gather` on indices enlarged by `expand`."""
        import torch

        data, indices = inputs[0], inputs[1].expand(self.shape)
        return lambda: torch.gather(data, self.axis, indices, out=out)

    def onnx(self) -> Sequence[Any]:
        """Return GatherElements, after an Expand if indices are expanded."""
        from onnx import helper

        if not self.is_expanded:
            return [helper.make_node("GatherElements", ["data", "indices"], ["output"], axis=self.axis)]
        return [
            onnx_constant("shape", self.shape),
            helper.make_node("Expand", ["indices", "shape"], ["expanded"]),
            helper.make_node("GatherElements", ["data", "expanded"], ["output"], axis=self.axis),
        ]

    def openvino(self, *inputs: Any) -> Any:
        """Return GatherElements-6, after a Broadcast if indices are expanded."""
        from ov_gather.extension.python_api import opset13 as ops

        data, indices = inputs
        expanded = ops.broadcast(indices, ops.constant(np.array(self.shape))) if self.is_expanded else indices
        return ops.gather_elements(data, expanded, self.axis)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation, which broadcasts indices itself."""
        return create("GatherElements", list(inputs), {"axis": self.axis, "broadcast": self.is_expanded})

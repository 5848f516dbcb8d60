"""Benchmark case of ScatterElements (ScatterElementsUpdate in OpenVINO)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import Create, Run, onnx_constant
from ov_gather.bench.scatter import Scatter
from ov_gather.kernels.reduction_names import onnx_name


@dataclass(frozen=True)
class ScatterElements(Scatter):
    """A ScatterElements of matrices; `own_indices` are the indices before they are expanded to the shape of the updates.

    Without a sum no index occurs twice, so that the order of updates does not matter.
    """

    axis: int
    reduction: Literal["none", "sum"] = "none"

    @property
    def indices(self) -> NDArray[Any]:
        """The indices in the shape of the updates, as a stride-0 view if they are expanded."""
        return np.broadcast_to(self.own_indices, self.updates.shape)

    @property
    def is_expanded(self) -> bool:
        """True if the indices are smaller than the updates: one per row."""
        return self.own_indices.shape != self.updates.shape

    def numpy(self) -> NDArray[Any]:
        """Call `np.put_along_axis` or `np.add.at` on a copy."""
        output = self.data.copy()
        if self.reduction == "sum":
            places: list[Any] = list(np.indices(self.updates.shape, sparse=True))
            places[self.axis] = self.indices
            np.add.at(output, tuple(places), self.updates)
        else:
            np.put_along_axis(output, self.indices, self.updates, self.axis)
        return output

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function with `out`."""
        from ov_gather import scatter_elements

        indices = self.indices
        return lambda: scatter_elements(self.data, indices, self.updates, self.axis, reduction=self.reduction, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `torch.scatter` or `torch.scatter_add` with `out`."""
        import torch

        data, indices, updates = inputs[0], inputs[1].expand(self.updates.shape), inputs[2]
        function = torch.scatter if self.reduction == "none" else torch.scatter_add
        return lambda: function(data, self.axis, indices, updates, out=out)

    def onnx(self) -> Sequence[Any]:
        """Return ScatterElements, after an Expand if indices are expanded."""
        from onnx import helper

        indices = "expanded" if self.is_expanded else "indices"
        inputs = ["data", indices, "updates"]
        scatter = helper.make_node("ScatterElements", inputs, ["output"], axis=self.axis, reduction=onnx_name(self.reduction))
        if not self.is_expanded:
            return [scatter]
        return [
            onnx_constant("shape", self.updates.shape),
            helper.make_node("Expand", ["indices", "shape"], ["expanded"]),
            scatter,
        ]

    def openvino(self, *inputs: Any) -> Any:
        """Return ScatterElementsUpdate-12, after a Broadcast if indices are expanded."""
        from ov_gather.extension.python_api import opset13 as ops

        data, indices, updates = inputs
        if self.is_expanded:
            indices = ops.broadcast(indices, ops.constant(np.array(self.updates.shape)))
        return ops.scatter_elements_update(data, indices, updates, ops.constant(self.axis), self.reduction)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation; ScatterND if there is one index per row."""
        reduction = {"reduction": onnx_name(self.reduction)}
        if self.is_expanded:
            return create("ScatterND", list(inputs), reduction)
        return create("ScatterElements", list(inputs), {"axis": self.axis, **reduction})

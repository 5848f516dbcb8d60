"""Benchmark cases of ScatterElements and ScatterND (ScatterElementsUpdate and ScatterNDUpdate in OpenVINO)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase, Create, Run, onnx_constant, onnx_node, opset
from ov_gather.kernels.reduction_names import onnx_name
from ov_gather.kernels.scatter_elements import scatter_elements
from ov_gather.kernels.scatter_nd import scatter_nd


@dataclass(frozen=True)
class _Scatter(BenchCase):
    """A scatter into a copy of data."""

    updates: NDArray[Any]

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """The inputs of a gather, and the updates."""
        return {**super().inputs, "updates": self.updates}

    @property
    def bytes_moved(self) -> int:
        """The bytes moved by a copy of data, and those of the updates, which are read once."""
        return super().bytes_moved + self.updates.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of data."""
        return self.data.shape


@dataclass(frozen=True)
class ScatterElements(_Scatter):
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
            np.add.at(output, self._places(self.indices), self.updates)
        else:
            np.put_along_axis(output, self.indices, self.updates, self.axis)
        return output

    def _places(self, indices: Any) -> tuple[Any, ...]:
        """Return indices of each dimension, which broadcast."""
        places: list[Any] = list(np.indices(self.updates.shape, sparse=True))
        places[self.axis] = indices
        return tuple(places)

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function with `out`."""
        indices = self.indices
        return lambda: scatter_elements(self.data, indices, self.updates, self.axis, reduction=self.reduction, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `torch.scatter` or `torch.scatter_add` with `out`."""
        import torch

        data, indices, updates = inputs[0], inputs[1].expand(self.updates.shape), inputs[2]
        function = torch.scatter if self.reduction == "none" else torch.scatter_add
        return lambda: function(data, self.axis, indices, updates, out=out)

    def jax(self, mode: str) -> Callable[..., Any]:
        """Return an update of places, or of whole rows if there is one index per row."""

        def scattered(data: Any, indices: Any, updates: Any) -> Any:
            places = data.at[indices[:, 0] if self.is_expanded else self._places(indices)]
            return (places.set if self.reduction == "none" else places.add)(updates, mode=mode)

        return scattered

    def onnx(self) -> Sequence[Any]:
        """Return ScatterElements, after an Expand if indices are expanded."""
        indices = "expanded" if self.is_expanded else "indices"
        inputs = ["data", indices, "updates"]
        scatter = onnx_node("ScatterElements", inputs, "output", axis=self.axis, reduction=onnx_name(self.reduction))
        if not self.is_expanded:
            return [scatter]
        return [
            onnx_constant("shape", self.updates.shape),
            onnx_node("Expand", ["indices", "shape"], "expanded"),
            scatter,
        ]

    def openvino(self, *inputs: Any) -> Any:
        """Return ScatterElementsUpdate-12, after a Broadcast if indices are expanded."""
        data, indices, updates = inputs
        if self.is_expanded:
            indices = opset().broadcast(indices, opset().constant(np.array(self.updates.shape)))
        return opset().scatter_elements_update(data, indices, updates, opset().constant(self.axis), self.reduction)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation; ScatterND if there is one index per row."""
        reduction = {"reduction": onnx_name(self.reduction)}
        if self.is_expanded:
            return create("ScatterND", list(inputs), reduction)
        return create("ScatterElements", list(inputs), {"axis": self.axis, **reduction})


@dataclass(frozen=True)
class ScatterND(_Scatter):
    """A ScatterND that replaces rows of a matrix. No row occurs twice."""

    def numpy(self) -> NDArray[Any]:
        """Assign to a copy by array indexing."""
        output = self.data.copy()
        output[self.own_indices[:, 0]] = self.updates
        return output

    def kernel(self, out: NDArray[Any]) -> Run:
        """Call our function with `out`."""
        return lambda: scatter_nd(self.data, self.own_indices, self.updates, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """Call `torch.index_copy` with `out`."""
        import torch

        data, indices, updates = inputs
        rows = indices[:, 0].long()  # the only type that it takes
        return lambda: torch.index_copy(data, 0, rows, updates, out=out)

    def jax(self, mode: str) -> Callable[..., Any]:
        """Return an update of rows."""
        return lambda data, indices, updates: data.at[indices[:, 0]].set(updates, mode=mode)

    def onnx(self) -> Sequence[Any]:
        """Return ScatterND."""
        return [onnx_node("ScatterND", ["data", "indices", "updates"], "output")]

    def openvino(self, *inputs: Any) -> Any:
        """Return ScatterNDUpdate-3."""
        return opset().scatter_nd_update(*inputs)

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Return our operation, which checks indices and applies updates in order."""
        return create("ScatterND", list(inputs), {"reduction": "none"})

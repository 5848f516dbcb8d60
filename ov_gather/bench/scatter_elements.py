"""ScatterElements; ScatterElementsUpdate in OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import Case, Create, Run


@dataclass(frozen=True)
class ScatterElements(Case):
    """No index occurs twice, so that the order of updates is of no account."""

    updates: NDArray[Any]
    axis: int

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """The inputs of a gather, and the updates."""
        return {**super().inputs, "updates": self.updates}

    @property
    def bytes_moved(self) -> int:
        """The bytes that a copy of data moves, and those of the updates, which are read once."""
        return super().bytes_moved + self.updates.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output is that of data."""
        return self.data.shape

    def numpy(self) -> NDArray[Any]:
        """`np.put_along_axis` on a copy."""
        output = self.data.copy()
        np.put_along_axis(output, self.own_indices, self.updates, self.axis)
        return output

    def kernel(self, out: NDArray[Any]) -> Run:
        """Our function, which writes to `out`."""
        from ov_gather import scatter_elements

        return lambda: scatter_elements(self.data, self.own_indices, self.updates, self.axis, out=out)

    def torch(self, out: Any, *inputs: Any) -> Run:
        """`torch.scatter` with `out`."""
        import torch

        data, indices, updates = inputs
        return lambda: torch.scatter(data, self.axis, indices, updates, out=out)

    def onnx(self) -> Sequence[Any]:
        """ScatterElements."""
        from onnx import helper

        return [helper.make_node("ScatterElements", ["data", "indices", "updates"], ["output"], axis=self.axis)]

    def openvino(self, *inputs: Any) -> Any:
        """ScatterElementsUpdate-12."""
        from ov_gather.extension.python_api import opset13 as ops

        return ops.scatter_elements_update(*inputs, ops.constant(self.axis))

    def extension(self, create: Create, *inputs: Any) -> Any:
        """Our operation inside OpenVINO, which checks indices and makes updates in order."""
        return create("ScatterElements", list(inputs), {"axis": self.axis})

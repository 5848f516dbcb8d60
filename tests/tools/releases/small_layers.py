"""Layers that show divergences which neither samples nor made-up layers show, or rarely."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I32, I64
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape


def small_layers() -> Iterator[Model]:
    """A Gather whose batch dimensions are 1, and one whose axis is no constant."""
    yield gather((1, 5, 3), (1, 4), 1, batch_dims=1)
    yield gather((5, 3), (4,), None)


def gather(data: tuple[int, ...], indices: tuple[int, ...], axis: int | None, batch_dims: int = 0) -> Model:
    builder = ModelBuilder("gather")
    axis_value = (
        builder.parameter("axis", I64, PartialShape.of(())) if axis is None else builder.const("axis", I64, np.array(axis))
    )
    inputs = [
        builder.parameter("data", F32, PartialShape.of(data)),
        builder.parameter("indices", I32, PartialShape.of(indices)),
        axis_value,
    ]
    text = {"batch_dims": str(batch_dims)}
    (output,) = builder.layer("Gather", "gather", "opset8", text, inputs, [(F32, PartialShape.of(()))], tensor="output")
    builder.result("output", output)
    return builder.build()

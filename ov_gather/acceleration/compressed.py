"""Gathers of compressed weights decompress what they take, and nothing else.

Before an operation of ours OpenVINO decompresses all weights when it compiles. Ours so gathers numbers of 16 bits as they are,
and what was gathered is converted. Where weights are compressed otherwise, ours takes the positions themselves, which raises
where an index is out of bounds, and a stock Gather, which decompresses only what it takes, takes the weights there.
"""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.gather_halves import is_half_table, of_half_table
from ov_gather.acceleration.graph import constant, dims, nodes_of, ours, take_place
from ov_gather.extension.python_api import Model, Output
from ov_gather.extension.python_api import opset13 as ops

_DECOMPRESSION = ("Convert", "Multiply", "Reshape", "Subtract")


def keep_compressed(model: Model, *, halved: bool = False) -> list[str]:
    """Rewrite a model in place. It returns the names of the gathers.

    Args:
        model: whose gathers are ours.
        halved: it will be written with its floating-point constants as float16.
    """
    kept = []
    for gather in nodes_of(model, "ov_gather.Gather"):
        data, indices, along = gather.input_values()
        if is_half_table(data):
            of_half_table(gather, data.get_node().input_value(0))
            kept.append(gather.get_friendly_name())
            continue
        attributes, shape, axis = gather.get_attributes(), dims(data), constant(along)
        if attributes["bounds"] != "error" or attributes["batch_dims"] or shape is None or axis is None:
            continue
        size = shape[int(axis.item())]
        if size.is_dynamic or not is_compressed(data, halved=halved):
            continue
        positions, first = ops.constant(np.arange(size.get_length(), dtype=np.int32)), ops.constant(np.array(0))
        checked = ours("Gather", [positions.output(0), indices, first.output(0)], {"batch_dims": 0, "bounds": "error"})
        checked.set_friendly_name(f"{gather.get_friendly_name()}/positions")
        take_place(gather, ops.gather(data, checked, along))
        kept.append(gather.get_friendly_name())
    return kept


def is_compressed(data: Output, *, halved: bool = False) -> bool:
    """Tell whether it is decompressed from a Constant of a smaller type, or will be once the model is written."""
    inner = data
    while inner.get_node().get_type_name() in _DECOMPRESSION:
        inner = inner.get_node().input_value(0)
    if inner.get_node().get_type_name() != "Constant":
        return False
    return bool(inner.get_element_type().bitwidth < data.get_element_type().bitwidth) or (
        halved and inner == data and data.get_element_type().get_type_name() in ("f32", "f64")
    )

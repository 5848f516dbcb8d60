"""Gathers of compressed weights that decompress only the gathered elements.

OpenVINO decompresses the whole table at compile time if our operation reads it. Two rewrites avoid that:
1. A table of 16-bit floats:
   before: ov_gather.Gather(Convert(table f16), indices)
   after:  Convert(ov_gather.Gather(table f16, indices))
2. Other compressed tables: our Gather checks the indices by gathering positions, and the stock Gather reads the table.
   before: ov_gather.Gather(Multiply(Convert(table i8), scale), indices)
   after:  Gather(Multiply(Convert(table i8), scale), ov_gather.Gather([0, 1, 2, ...], indices))
"""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.gather_halves import is_half_table, of_half_table
from ov_gather.acceleration.graph import constant, dims, nodes_of, replace_node, viewed
from ov_gather.acceleration.operators import our_gather
from ov_gather.extension.python_api import Model, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import OPENVINO, OpKind, where

_DECOMPRESSION = where(OPENVINO, lambda op: op.kind is OpKind.CAST or op.symbol in ("-", "*")) | {"Reshape"}


def keep_compressed(model: Model, *, halved: bool = False) -> list[str]:
    """Rewrite a model in place and return the names of the rewritten gathers.

    Args:
        model: a model with gathers of ours.
        halved: assume that the model will be saved with float16 constants.
    """
    kept = []
    for gather in nodes_of(model, "ov_gather.Gather"):
        data, indices, along = gather.input_values()
        if is_half_table(data):  # case 1
            of_half_table(gather, data.get_node().input_value(0))
            kept.append(gather.get_friendly_name())
            continue
        attributes, shape, axis = gather.get_attributes(), dims(data), constant(along)
        if attributes["bounds"] != "error" or attributes["batch_dims"] or shape is None or axis is None:
            continue
        size = shape[int(axis.item())]
        if size.is_dynamic or not is_compressed(data, halved=halved):
            continue
        # Case 2
        positions, first = ops.constant(np.arange(size.get_length(), dtype=np.int32)), ops.constant(np.array(0))
        checked = our_gather([positions.output(0), indices, first.output(0)])
        checked.set_friendly_name(f"{gather.get_friendly_name()}/positions")
        replace_node(gather, ops.gather(data, checked, along))
        kept.append(gather.get_friendly_name())
    return kept


def is_compressed(data: Output, *, halved: bool = False) -> bool:
    """Return True if data are decompressed from a Constant of a narrower type, or will be once saved as float16 (`halved`)."""
    inner = viewed(data, _DECOMPRESSION)
    if inner.get_node().get_type_name() != "Constant":
        return False
    return bool(inner.get_element_type().bitwidth < data.get_element_type().bitwidth) or (
        halved and inner == data and data.get_element_type().get_type_name() in ("f32", "f64")
    )

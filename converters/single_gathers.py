"""Each gather and scatter of an ONNX model as a small IR: for `ov-gather check`, bug reports and tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import onnx_ir

from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.model import Model

from .errors import describe
from .graphs import constant_of, nodes_of
from .layers import BY_TARGET, add_constant, add_indexed, element_type_of, partial_shape
from .legalize import legalize
from .loading import load, naming

_LARGEST_CONSTANT = 2**20  # in bytes; a larger one becomes a Parameter


def gathers_of(source: Path, *, target: str, assume_in_bounds: bool) -> dict[str, Model]:
    """Legalize an ONNX file; return its gathers and scatters by unique file name. Raises ConversionError, OSError."""
    with naming(source):
        model = load(source)
        legalize(model, target=target, assume_in_bounds=assume_in_bounds)
        gathers = list(single_gathers(model, target))
    names = (re.sub(r"[^A-Za-z0-9_.-]+", "_", gather.name).strip("_") for gather in gathers)
    return {f"{number:03}_{name}.xml": gather for number, (name, gather) in enumerate(zip(names, gathers, strict=True))}


def single_gathers(model: onnx_ir.Model, target: str) -> Iterator[Model]:
    """Yield each gather and scatter of a legalized model, named after its node or output. Raises ConversionError."""
    for node in nodes_of(model, *BY_TARGET[target]):
        output = str(node.outputs[0].name)
        builder = ModelBuilder(node.name or output)
        inputs = [_add_input(builder, describe(node), value) for value in node.inputs if value is not None]
        builder.result(output, add_indexed(builder, node, inputs, target))
        yield builder.build()


def _add_input(builder: ModelBuilder, place: str, value: onnx_ir.Value) -> PortRef:
    name, tensor = str(value.name), constant_of(value)
    if tensor is not None and tensor.nbytes <= _LARGEST_CONSTANT:
        return add_constant(builder, name, tensor)
    element_type = element_type_of(place, None if value.dtype is None else value.dtype.value)
    dims = None if value.shape is None else [dim if isinstance(dim, int) else None for dim in value.shape]
    return builder.parameter(name, element_type, partial_shape(place, dims))

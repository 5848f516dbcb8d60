"""Our kernels for GPUs: layers, and what the kernels must write, by the reference and the flag."""

import numpy as np

from helpers.inside_openvino import one_layer
from helpers.paths import ROOT
from ov_gather.ir.element_types import I64, by_name
from ov_gather.ops.layer_view import family_layers

KERNELS = ROOT / "ov_gather" / "native" / "opencl"


def view(kind, shapes, data_type="f32", index_type="i32", **attributes):
    """A layer of ours, for these shapes of data, indices and updates; `axis` is an input of Gather."""
    types = map(by_name, (data_type, index_type, data_type))
    texts = [",".join(map(str, shape)) for shape in shapes]
    inputs = {name: given for name, *given in zip(("data", "indices", "updates"), texts, types, strict=False)}
    axis = {"axis": (np.array(attributes.pop("axis")), I64)} if kind == "Gather" else {}
    (layer,) = family_layers(one_layer(kind, inputs, attributes, axis))
    return layer


def expected(layer, operands):
    """What a layer writes: by the reference with an index of 0 where one is out of bounds, and the flag there."""
    indices, sizes = operands[1], layer.index_sizes
    size = np.array(sizes if len(sizes) > 1 else sizes[0])  # of each coordinate of a tuple, or of the axis
    bad = (indices < -size) | (indices >= size)
    valid = [operands[0], np.where(bad, 0, indices).astype(indices.dtype), *operands[2:]]
    (output,) = layer.operation.reference(valid, layer.attributes)
    flagged = _FLAGGED[layer.layer.type](output.shape, bad, operands[0].ndim, layer.attributes)
    return np.where(flagged, 0 if layer.attributes.get("bounds") == "zero" else flag(output.dtype), output)


def flag(dtype):
    """What marks an element whose index is out of bounds."""
    return np.nan if dtype.kind == "f" else np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max


def _of_elements(shape, bad, rank, attributes):
    return np.broadcast_to(bad[..., np.newaxis] if attributes["lanes"] else bad, shape)


def _of_slices(shape, bad, rank, attributes):
    batch, axis = attributes["batch_dims"], attributes["axis"]
    sizes = (*bad.shape[:batch], *[1] * (axis - batch), *bad.shape[batch:], *[1] * (rank - axis - 1))
    return np.broadcast_to(bad.reshape(sizes), shape)


def _of_tuples(shape, bad, rank, attributes):
    tuples = bad.any(-1)
    return np.broadcast_to(tuples.reshape(tuples.shape + (1,) * (len(shape) - tuples.ndim)), shape)


def _of_lines(shape, bad, rank, attributes):
    axis, flagged = attributes["axis"], np.zeros(shape, bool)
    flagged[tuple(slice(None if i == axis else size) for i, size in enumerate(bad.shape))] = bad.any(axis, keepdims=True)
    return flagged


_FLAGGED = {
    "GatherElements": _of_elements,
    "Gather": _of_slices,
    "GatherND": _of_tuples,
    "ScatterElements": _of_lines,
    "ScatterND": lambda shape, bad, rank, attributes: np.full(shape, bad.any()),
}

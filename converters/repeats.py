"""Tiles with computed repeats: OpenVINO's CPU plugin computes some of them wrongly."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir

from .graphs import constant_of, nodes_of
from .loading import is_default
from .ranges import Ranges

# The plugin of 2026.4.1 is right if data has at most 3 axes, or at most 2 are repeated, or the repeats are constant.
_AXES, _REPEATED = 3, 2


def wrong_tiles(model: onnx_ir.Model, ranges: Ranges) -> Iterator[onnx_ir.Node]:
    """Yield each Tile that may return uninitialised memory."""
    for node in nodes_of(model, "Tile"):
        if len(node.inputs) != 2 or node.inputs[0] is None or node.inputs[1] is None:
            continue  # Tile-1 repeats one axis
        data, repeats = node.inputs[0].shape, list(_parts(node.inputs[1]))
        if (data is not None and data.rank() <= _AXES) or all(_is_fixed(part, ranges) for part in repeats):
            continue
        if sum(_repeated(part, ranges) for part in repeats) > _REPEATED:
            yield node


def _parts(value: onnx_ir.Value) -> Iterator[onnx_ir.Value]:
    """Yield the values that Concat assembles this one from, through Cast and Identity; or the value itself."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        node = value.producer()
        if node is not None and is_default(node, ("Cast", "Concat", "Identity")):
            waiting += [part for part in node.inputs if part is not None]
        else:
            yield value


def _is_fixed(part: onnx_ir.Value, ranges: Ranges) -> bool:
    found = ranges.of(part)
    return constant_of(part) is not None or (found is not None and found.low == found.high)


def _repeated(part: onnx_ir.Value, ranges: Ranges) -> int:
    """Return how many axes a part of the repeats may repeat."""
    tensor, found = constant_of(part), ranges.of(part)
    if tensor is not None:
        return int((tensor.numpy() > 1).sum())
    if found is not None and found.high <= 1:
        return 0
    size = 1 if part.shape is None or part.shape.rank() != 1 else part.shape[0]
    return size if isinstance(size, int) and part.shape is not None else _REPEATED + 1

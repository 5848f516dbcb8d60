"""Nodes, inputs and constants that OpenVINO will not execute as ONNX specifies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.divergences.cpu_plugin import as_seen
from ov_gather.ir.element_types import F64, STRING, U32
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS

from .errors import describe
from .graphs import bodies_of, constant_of, constants_of, inputs_of, is_default, nodes_of
from .inexact_nodes import (
    CASTS,
    ROUNDED,
    SIGNED,
    UNROUNDED,
    WRAPPED,
    exceeds_int32,
    is_rounded,
    is_signed,
    is_unrounded,
    is_wrapped,
    narrowing,
    stays_within,
    wrong_tiles,
)
from .moves import element_type_of, is_gathered, is_only_index, is_read
from .passes.empty_constants import lost_constants
from .ranges import Ranges

_PART = 2**16  # elements compared at once: they fit in a cache, and weights may have gigabytes


class LossyConversionWarning(UserWarning):
    """OpenVINO will not execute a part of a converted model as its source specifies."""


@dataclass(frozen=True, slots=True)
class Inexactness:
    """A place in a model, and how OpenVINO departs from ONNX there."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def summaries(found: Sequence[Inexactness]) -> list[str]:
    """Return one line for each kind of inexactness, with its places."""
    return [
        f"{what}: {', '.join(each.place for each in found if each.what == what)}"
        for what in dict.fromkeys(each.what for each in found)
    ]


def find_inexactness(
    model: onnx_ir.Model, *, target: str, assume_in_bounds: bool = False, checks_inputs: bool = False
) -> list[Inexactness]:
    """Return the places at which OpenVINO will not execute a legalized ONNX model as ONNX specifies.

    Args:
        model: the legalized model.
        target: as for `convert_model`.
        assume_in_bounds: do not report indices that may be out of bounds.
        checks_inputs: the caller checks that 64-bit inputs fit in 32 bits, and knows the rank of each.
    """
    ranges = Ranges(model)
    found = [*_narrowed(model, ranges, assume_in_bounds, checks_inputs), *_of_constants(model)]
    found += [Inexactness(describe(node), _TILED) for node in wrong_tiles(model, ranges)]
    found += [
        Inexactness(describe(node), ROUNDED[node.op_type]) for node in nodes_of(model, *ROUNDED) if is_rounded(node, ranges)
    ]
    found += _of_pads(model)
    found += [Inexactness(describe(node), _QUIETED) for node in nodes_of(model, *_QUIETING) if _takes_halves(node)]
    found += [Inexactness(describe(node), UNROUNDED) for node in nodes_of(model, *CASTS) if is_unrounded(node, ranges)]
    found += [Inexactness(describe(node), SIGNED) for node in model.graph.all_nodes() if is_signed(node, ranges)]
    found += [Inexactness(describe(node), WRAPPED) for node in model.graph.all_nodes() if is_wrapped(node, ranges)]
    if target == "stock":
        for node in nodes_of(model, *GATHERS, *SCATTERS):
            found += _of_stock_operation(node, ranges, assume_in_bounds)
    if not checks_inputs:
        found += _of_open_ranks(model)
    return found


def altered_constants(model: onnx_ir.Model) -> Iterator[tuple[onnx_ir.Value, NDArray[Any]]]:
    """Yield the constants that OpenVINO's CPU plugin alters, if that affects results, with their values."""
    for value in constants_of(model):
        tensor, element_type = constant_of(value), element_type_of(value)
        if tensor is None or element_type in (None, STRING) or all(_is_folded(*use) for use in value.uses()):
            continue
        # Other types lose denormals, which matters only if they are moved: arithmetic rounds by more.
        if element_type in (*NARROWED_BY_CPU, U32) or is_gathered(value):
            array = tensor.numpy()
            if not is_preserved(array, constant=True):
                yield value, array


def is_preserved(array: NDArray[Any], *, constant: bool) -> bool:
    """Return True if OpenVINO's CPU plugin passes every bit of an array on to an operation that only moves elements."""
    flat = array.ravel()
    parts = (flat[start : start + _PART] for start in range(0, flat.size, _PART))
    with np.errstate(all="ignore"):
        return all(as_seen(part, constant).astype(part.dtype).tobytes() == part.tobytes() for part in parts)


def _narrowed(model: onnx_ir.Model, ranges: Ranges, assume_in_bounds: bool, checks_inputs: bool) -> Iterator[Inexactness]:
    """Yield where 64-bit values arise that may not fit in 32 bits; values computed from these are not reported again."""

    def is_wide(value: onnx_ir.Value | None) -> bool:
        if value is None or element_type_of(value) not in NARROWED_BY_CPU or constant_of(value) is not None:
            return False
        return exceeds_int32(ranges.of(value))

    for value in filter(is_wide, filter(is_read, inputs_of(model))):
        is_harmless = (checks_inputs and stays_within(value)) or (assume_in_bounds and is_only_index(value))
        if element_type_of(value) is F64 or not is_harmless:
            yield Inexactness(f"input '{value.name}'", _narrowing(value))
    for node in model.graph.all_nodes():
        if any(map(is_wide, node.inputs)) or bodies_of(node):
            continue  # reported for the input, or for a node of the body
        for value in filter(is_wide, node.outputs):
            computed = _computed(model, value)
            if computed is None or not is_preserved(computed, constant=True):
                yield Inexactness(describe(node), _narrowing(value))


def _narrowing(value: onnx_ir.Value) -> str:
    element_type = element_type_of(value)
    assert element_type is not None
    return narrowing(element_type)


def _computed(model: onnx_ir.Model, value: onnx_ir.Value) -> NDArray[Any] | None:
    """Return a value computed from constants alone, which OpenVINO folds exactly before it narrows; None for others."""
    try:
        graph = onnx_ir.convenience.extract(model.graph, [], [value])
        proto = onnx_ir.to_proto(onnx_ir.Model(graph, ir_version=model.ir_version))
        (array,) = ReferenceEvaluator(proto).run(None, {})
    except Exception:  # it depends on an input, or ONNX's reference lacks an operator
        return None
    return np.asarray(array)


def _of_constants(model: onnx_ir.Model) -> Iterator[Inexactness]:
    for value, _ in altered_constants(model):
        yield Inexactness(
            f"constant '{value.name}'", f"{element_type_of(value)} holds values that OpenVINO's CPU plugin alters"
        )
    for value, _ in lost_constants(model):
        yield Inexactness(f"constant '{value.name}'", "OpenVINO makes one element of a constant that has none")


def _of_pads(model: onnx_ir.Model) -> Iterator[Inexactness]:
    """Yield each Pad whose number OpenVINO's CPU plugin replaces or rounds."""
    for node in nodes_of(model, "Pad"):
        value, mode = node.inputs[2] if len(node.inputs) > 2 else None, node.attributes.get("mode")
        if value is None or (mode is not None and mode.as_string() != "constant"):
            continue
        tensor = constant_of(value)
        number = _computed(model, value) if tensor is None else tensor.numpy()
        if number is None:
            yield Inexactness(describe(node), "OpenVINO's CPU plugin pads with 0 instead of a number that the model computes")
        elif number.dtype.kind in "iu" and (number.astype(np.float32).astype(number.dtype) != number).any():
            yield Inexactness(describe(node), f"OpenVINO's CPU plugin rounds {number.item()}, to pad with, to float32")


def _of_open_ranks(model: onnx_ir.Model) -> Iterator[Inexactness]:
    """Yield inputs and nodes of unknown rank, which OpenVINO's CPU plugin refuses to compile."""
    unknown = "OpenVINO's CPU plugin needs the rank: reshape the model before it is compiled"
    for value in inputs_of(model):
        if value.shape is None:
            yield Inexactness(f"input '{value.name}'", unknown)
    for node in nodes_of(model, "GatherND"):
        indices = node.inputs[1]
        if indices is not None and indices.shape is not None and not isinstance(indices.shape[-1], int):
            yield Inexactness(describe(node), unknown)


def _of_stock_operation(node: onnx_ir.Node, ranges: Ranges, assume_in_bounds: bool) -> Iterator[Inexactness]:
    """Yield how a stock gather or scatter departs from ONNX; our operations do not."""
    if node.op_type != "Gather" and element_type_of(node.inputs[0]) is STRING:
        yield Inexactness(describe(node), f"OpenVINO's CPU plugin has no {node.op_type} of strings; target extension has")
    instead = OUT_OF_BOUNDS.get(node.op_type)
    if instead and not assume_in_bounds and not ranges.are_in_bounds(node):
        yield Inexactness(describe(node), f"an index out of bounds {instead}; target extension raises")


_QUIETED = "OpenVINO's CPU plugin makes signalling NaNs of float16 quiet"
_QUIETING = (
    *("CenterCropPad", "ConcatFromSequence", "DepthToSpace", "SequenceAt", "SequenceConstruct", "SequenceInsert"),
    *("SpaceToDepth", "SplitToSequence", "Trilu"),
)
"""Operators that only move values, but are not moved in lanes."""


def _takes_halves(node: onnx_ir.Node) -> bool:
    return any(value is not None and value.dtype is onnx_ir.DataType.FLOAT16 for value in (*node.inputs, *node.outputs))


_TILED = "repeats that the model computes may leave a part of the output unwritten on OpenVINO's CPU plugin"
OUT_OF_BOUNDS = {
    "Gather": "yields zeros",
    "GatherND": "reads foreign memory",
    "Scatter": "may write to foreign memory",
    "ScatterElements": "may write to foreign memory",
    "ScatterElementsUpdate": "may write to foreign memory",
    "ScatterNDUpdate": "may write to foreign memory",
    "ScatterUpdate": "may write to foreign memory",
}
"""Effect of an index out of bounds, for operations of OpenVINO that do not raise."""


def _is_folded(node: onnx_ir.Node, position: int) -> bool:
    """Return True if narrowing does not affect this use of a constant: a Cast, folded exactly, or a bound of a Slice."""
    return is_default(node, ("Cast",)) or (is_default(node, ("Slice",)) and position in (1, 2))

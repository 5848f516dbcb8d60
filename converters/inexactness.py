"""Nodes, inputs and constants that OpenVINO will not execute as ONNX specifies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.divergences.cpu_plugin import as_seen
from ov_gather.ir.element_types import F64, STRING, U32
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS

from .errors import describe
from .graphs import bodies_of, constant_of, constants_of, inputs_of, is_default, nodes_of
from .inexact_nodes import FLOATS, computed, exceeds_int32, inexact_nodes, narrowing, seeing_high_bits, stays_within
from .moves import element_type_of, is_bound, is_gathered, is_read
from .passes.empty_constants import lost_constants
from .ranges import Ranges
from .unknown_forms import unknown_forms

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
    found = [*_narrowed(model, ranges, checks_inputs), *_of_constants(model)]
    found += [Inexactness(describe(node), what) for node, what in (*inexact_nodes(model, ranges), *unknown_forms(model))]
    if target == "stock":
        for node in nodes_of(model, *GATHERS, *SCATTERS):
            found += _of_stock_operation(node, ranges, assume_in_bounds)
    if not assume_in_bounds:
        found += _of_other_indices(model, ranges, target)
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


def _narrowed(model: onnx_ir.Model, ranges: Ranges, checks_inputs: bool) -> Iterator[Inexactness]:
    """Yield where 64-bit values arise that may not fit in 32 bits; values computed from these are not reported again."""

    def is_wide(value: onnx_ir.Value | None) -> bool:
        if value is None or element_type_of(value) not in NARROWED_BY_CPU or constant_of(value) is not None:
            return False
        return exceeds_int32(ranges.of(value))

    for value in filter(is_wide, filter(is_read, inputs_of(model))):
        if not (checks_inputs and element_type_of(value) is not F64 and stays_within(value)):
            yield from _seen(f"input '{value.name}'", value, ranges)
    for node in model.graph.all_nodes():
        if any(map(is_wide, node.inputs)) or bodies_of(node):
            continue  # reported for the input, or for a node of the body
        for value in filter(is_wide, node.outputs):
            array = computed(model, value)
            if array is None or not is_preserved(array, constant=True):
                yield from _seen(describe(node), value, ranges)


def _seen(place: str, value: onnx_ir.Value, ranges: Ranges) -> Iterator[Inexactness]:
    """Yield that a value is narrowed, unless no node tells its integers from their lower 32 bits."""
    if element_type_of(value) is F64:
        yield Inexactness(place, _narrowing(value))
    elif seeing := seeing_high_bits(value, ranges):
        yield Inexactness(f"{place}, read by {seeing}", _narrowing(value))


def _narrowing(value: onnx_ir.Value) -> str:
    element_type = element_type_of(value)
    assert element_type is not None
    return narrowing(element_type)


def _of_constants(model: onnx_ir.Model) -> Iterator[Inexactness]:
    for value, _ in altered_constants(model):
        yield Inexactness(
            f"constant '{value.name}'", f"{element_type_of(value)} holds values that OpenVINO's CPU plugin alters"
        )
    for value, _ in lost_constants(model):
        yield Inexactness(f"constant '{value.name}'", "OpenVINO makes one element of a constant that has none")


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
    reduction = node.attributes.get("reduction")
    if reduction is not None and reduction.value in ("max", "min") and element_type_of(node.inputs[0]) in FLOATS:
        yield Inexactness(describe(node), f"{LOST_NAN}; target extension keeps it")
    instead = OUT_OF_BOUNDS.get(node.op_type)
    if instead and not assume_in_bounds and not ranges.are_in_bounds(node):
        yield Inexactness(describe(node), f"an index out of bounds {instead}; target extension raises")


def _of_other_indices(model: onnx_ir.Model, ranges: Ranges, target: str) -> Iterator[Inexactness]:
    """Yield operators that are no gathers, but do not raise for an index out of bounds that may occur."""
    for node in model.graph.all_nodes():
        found = dict[str, None]()  # several inputs of a node may hold indices
        for site in filter(lambda site: site.outside, ranges.unproved(node)):
            checked = "target extension raises" if target == "stock" and site.can_be_checked else "nothing checks it"
            found[f"an index out of bounds {site.outside}; {checked}"] = None
        yield from (Inexactness(describe(node), what) for what in found)


LOST_NAN = "a NaN among the updates never wins max or min"
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
    return is_default(node, ("Cast",)) or is_bound(node, position)

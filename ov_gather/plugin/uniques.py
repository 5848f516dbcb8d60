"""Faults of Unique: along axes, of bytes, of constants, and with outputs that nothing reads."""

from __future__ import annotations

from itertools import islice
from math import prod

from ov_gather.graph.protocol import LOOPS, Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import LAYERS, PatternGraph
from ov_gather.system.traversal import reachable

_SEARCHES = ("NonZero", "Unique")
_BYTES = ("boolean", "i8", "u8")
_POSITIONS, _INVERSE, _COUNTS = 1, 2, 3
"""The outputs that hold the first positions, to which of them each slice is equal, and how often each occurs."""


def _nothing(graph: PatternGraph, node: Node) -> bool:
    dims = graph.shape(node).dims
    return dims is not None and any(0 in dim for dim in dims)


def _without_inverse(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Unique that does not sort, unless only its inverse is read, or that of no constants and others."""
    reads, shape = [bool(graph.readers(key)) for key in node.outputs], graph.shape(node)
    if (shape.is_static and prod(shape.sizes) <= 1) or len(node.inputs) > 1 or node.is_set("sorted"):
        return False
    inverse = any(reads[_INVERSE : _INVERSE + 1])
    return any(reads[:_INVERSE] + reads[_INVERSE + 1 :]) and not (inverse and not graph.origins(node, 0))


def _along_later_axis(graph: PatternGraph, node: Node) -> bool:
    """Return True for more than two slices along another axis than the first, if they lie apart in memory."""
    axis, dims = graph.constant(node, 1), graph.shape(node).dims
    if axis is None or not dims:
        return False
    at = int(axis.ravel()[0]) % len(dims)
    most = dims[at].upper
    return any(dim.upper != 1 for dim in dims[:at]) and (most is None or most > 2)


def _of_bytes(graph: PatternGraph, node: Node) -> bool:
    """Return True for positions or counts of slices of bytes, unless sorted slices are single, or of one byte."""
    is_read = any(graph.readers(node.outputs[i]) for i in (_POSITIONS, _COUNTS) if i < len(node.outputs))
    axis, dims = graph.constant(node, 1), graph.shape(node).dims
    if not is_read or graph.type(node) not in _BYTES or axis is None or not dims:
        return False
    at = int(axis.ravel()[0]) % len(dims)
    is_single = dims[at].upper == 1 or all(dim.upper == 1 for i, dim in enumerate(dims) if i != at)
    return not (node.is_set("sorted") and is_single)


def _of_constants(graph: PatternGraph, node: Node) -> bool:
    """Return True for constants whose result, maybe behind other operations, is searched again, or joined by a loop."""
    if not graph.origins(node, 0):
        return False

    def readers(one: Node) -> list[Node]:
        return (
            [] if one is not node and one.type in _SEARCHES else [other for key in one.outputs for other in graph.readers(key)]
        )

    read = list(islice(reachable([node], readers), 1, LAYERS))
    is_joined = bool(node.path) and node.path[-1].startswith(LOOPS) and any(one.is_output for one in read)
    return is_joined or any(one.type in _SEARCHES for one in read)


UNIQUES = (
    KnownFault(
        report="unique_of_nothing",
        types=("Unique",),
        occurs=_nothing,
        instead="Unique of no elements fails, or returns the result of the inference before",
        remedy="declare that there is at least one element",
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="unique_without_inverse",
        types=("Unique",),
        occurs=_without_inverse,
        instead="all elements but the first, and their positions, are 0 or uninitialized memory",
        remedy="sort the elements, or read the inverse, too",
        converter="avoids",
    ),
    KnownFault(
        report="unique_of_constants",
        types=("Unique",),
        occurs=_of_constants,
        instead="Unique of constants is refused by compile_model if Unique or NonZero read its result, or a loop joins it",
        remedy="replace it by its result",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="unique_along_later_axis",
        types=("Unique",),
        occurs=_along_later_axis,
        operands=2,
        instead="Unique along another axis than the first keeps equal slices, merges different ones and sorts them wrongly",
        remedy="move the axis to the front by a Transpose, and back",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="unique_slices_of_bytes",
        types=("Unique",),
        occurs=_of_bytes,
        operands=2,
        instead="positions and counts of slices of 8 bits are wrong, or uninitialized memory",
        remedy="convert to i32 before, and the elements back",
        converter="avoids",
    ),
)

"""Faults in operations that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod

from ov_gather.graph.protocol import Key, Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import LAYERS, VIEWS, PatternGraph
from ov_gather.plugin.removed import before_removed, producer_before_removed

_NO_DEFAULT_OUTPUT = ("LSTMSequence", "TopK", "VariadicSplit")
_LOOPS = 6
"""Most loops of a Tile whose repeats are computed."""
_LANES = 16
"""Elements of a vector of the widest kernel of Gather."""
_LEVELS = (15, 16, 255, 256)
"""Levels of a FakeQuantize for which OpenVINO runs its low-precision passes, on the whole model."""
_AXES = 4
"""The input of Slice with its axes, behind start, stop and step."""


def _concat_abs(graph: PatternGraph, node: Node) -> bool:
    """Return True if Abs reads a vector from Concat, possibly in views of one dimension, that another node reads, too."""
    seen: set[Node] = set()
    waiting = [(node, 0, False)] if graph.shape(node).rank == 1 else []
    while waiting and len(seen) < LAYERS:
        reader, position, shared = waiting.pop()
        source, producer = graph.source(reader, position), graph.producer(reader, position)
        if source is None or producer is None or producer in seen:
            continue
        seen.add(producer)
        shared |= any(other is not reader for other in graph.readers(source))
        is_view = producer.type in (*VIEWS, "Transpose") or (producer.type == "Concat" and len(producer.inputs) == 1)
        if is_view:
            waiting.append((producer, 0, shared))
        elif (removed := _reader_before(graph, producer)) is not None:
            waiting.append((*removed, shared))
        elif producer.type == "Concat" and graph.graph.shape_of(source).rank == 1:
            if shared:
                return True
            first = range(min(len(producer.inputs), LAYERS))
            waiting += [(producer, i, False) for i in first]  # OpenVINO moves Abs to the operands
    return False


def _reader_before(graph: PatternGraph, node: Node) -> tuple[Node, int] | None:
    """Return the node, and the position, that reads what a removed node returns; None if it stays."""
    before = before_removed(graph, node)
    if before is None:
        return None
    reader = node if before in node.inputs else graph.producer(node)
    return None if reader is None else (reader, list(reader.inputs).index(before))


def _repeats(graph: PatternGraph, node: Node) -> Sequence[int | None]:
    """Return the repeats of a Tile, by axis; None for one that is only known at run time."""
    found, count = graph.viewed(node, 1, ("Convert", *VIEWS)), graph.shape(node, 1).sizes
    joined = None if found is None else graph.graph.producer(found)
    if joined and joined.type == "Concat" and len(joined.inputs) <= LAYERS:
        parts = [graph.constant(joined, i) for i in range(len(joined.inputs))]
        sizes = [graph.shape(joined, i).sizes for i in range(len(parts))]
        if all(len(size) == 1 and 0 <= size[0] <= LAYERS for size in sizes):
            given = [[None] * size[0] if part is None else part.tolist() for part, size in zip(parts, sizes, strict=True)]
            return [times for part in given for times in part]
    return [None] * count[0] if len(count) == 1 and count[0] <= LAYERS else ()


def _tile(graph: PatternGraph, node: Node) -> bool:
    """Return True if the repeats are computed, and are too many for the CPU plugin's loops.

    It repeats blocks of neighbouring axes: one loop for the elements of axes that are not repeated, and one for their repeats.
    """
    sizes, repeats = graph.shape(node).sizes, _repeats(graph, node)
    if not sizes or not repeats or graph.origins(node, 1):
        return False
    rank = max(len(sizes), len(repeats))
    aligned = zip((*[1] * (rank - len(sizes)), *sizes), (*[1] * (rank - len(repeats)), *repeats), strict=True)
    loops = [kind for size, times in aligned for kind, count in (("repeats", times), ("elements", size)) if count != 1]
    return sum(1 for _ in groupby(loops)) > _LOOPS


def _of_one_channel(graph: PatternGraph, node: Node) -> bool:
    """Return True for images or volumes of one channel and an open size, repeated along two axes after the first."""
    dims, repeats = graph.shape(node).dims or (), graph.constant(node, 1)
    if len(dims) not in (4, 5) or repeats is None or repeats.size != len(dims) or all(dim.is_static for dim in dims):
        return False
    return dims[1].upper == 1 and dims[1].lower == 1 and int((repeats[1:] > 1).sum()) > 1


def _gather_batches(graph: PatternGraph, node: Node) -> bool:
    """Return True for static shapes, sizes of 1 before the axis, and few elements an index or a batch."""
    batch = node.integer("batch_dims")
    if not batch:
        return False
    axis, data, indices = graph.constant(node, 2), graph.shape(node), graph.shape(node, 1)
    if axis is None or axis.size != 1 or not data.is_static or not indices.is_static:
        return False
    sizes = data.sizes
    at = int(axis.ravel()[0]) % len(sizes)
    if prod(sizes[:at]) != 1 or prod(sizes) == 0:
        return False
    block, count = prod(sizes[at + 1 :]), prod(indices.sizes[batch:])
    return 0 < count < _LANES if block == 1 else block <= _LANES and count > 0


def _of_inserted_axis(graph: PatternGraph, node: Node) -> bool:
    """Return True for constant indices, no scalar, along the axis that an Unsqueeze inserts beside several open ones."""
    if not graph.shape(node, 1).rank:
        return False
    inserting, axis = producer_before_removed(graph, node), graph.constant(node, 2)
    if inserting is None or inserting.type != "Unsqueeze" or axis is None:
        return False
    inserted, dims = graph.constant(inserting, 1), graph.shape(inserting).dims or ()
    is_same = inserted is not None and inserted.ravel().tolist() == axis.ravel().tolist()
    is_open = sum(not dim.is_static for dim in dims) > 1
    return is_same and is_open and graph.is_folded(node, 1) and graph.only_node(inserting)


def _quantised(graph: PatternGraph, node: Node) -> bool:
    """Return True if data comes from a MatMul of weights and activations of 8 bits, the latter with a zero point."""
    source = graph.producer(node, 0)
    if source and source.type == "Multiply" and graph.const(source, 1):
        source = graph.producer(source, 0)
    if source is None or source.type != "MatMul" or len(source.inputs) != 2:
        return False
    activations, weights = graph.producer(source, 0, "Multiply"), graph.producer(source, 1, "Multiply")
    shifted = activations and graph.producer(activations, 0, "Subtract")
    stored, values = (one and graph.producer(one, 0, "Convert") for one in (weights, shifted))
    if not stored or not values or not shifted or graph.producer(stored, 0, "Const") is None:
        return False
    zero = graph.constant(shifted, 1)
    if zero is None or not zero.any() or not {graph.type(stored), graph.type(values)} <= {"i8", "u8"}:
        return False
    return any(one.integer("levels") in _LEVELS for one in graph.graph.nodes("FakeQuantize"))


def _open_axis(graph: PatternGraph, node: Node) -> bool:
    return node.opset == "opset1" and not graph.origins(node, 2)


def _computed_axes(graph: PatternGraph, node: Node) -> bool:
    """Return True if the axes are computed, but neither the limits, the step nor the shape of data are."""
    is_open = not graph.origins(node, _AXES)
    return is_open and graph.shape(node).is_static and all(graph.origins(node, position) for position in range(1, _AXES))


def _mixed_masks(graph: PatternGraph, node: Node) -> bool:
    """Return True if an axis is added and another one removed, of several; an axis that is added is not removed."""
    added, removed, rest = (_mask(node, name) for name in ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask"))
    return bool(added) and bool(removed - added) and not rest and graph.shape(node).rank != 1


def _mask(node: Node, name: str) -> set[int]:
    """Return the positions that a mask names."""
    flags = node.attributes.get(name, "").split(",")
    return {position for position, flag in enumerate(flags) if flag.strip() == "1"}


def _broadcast_of_nothing(graph: PatternGraph, node: Node) -> bool:
    shape = graph.shape(node)
    is_empty = shape.is_static and 0 in shape.sizes and not graph.origins(node, 0)
    return is_empty and bool(graph.origins(node, 1)) and not _is_refused(graph, node)


def _broadcast_of_empty_constant(graph: PatternGraph, node: Node) -> bool:
    shape = graph.shape(node)
    return shape.is_static and 0 in shape.sizes and bool(graph.origins(node, 0)) and bool(graph.origins(node, 1))


def _is_refused(graph: PatternGraph, node: Node) -> bool:
    """Return True if a bidirectional Broadcast has to turn a 1 of the target into a 0."""
    return graph.shape(node).is_static and (0, 1) in _pairs(graph, node)


def _pairs(graph: PatternGraph, node: Node) -> Sequence[tuple[int | None, int]]:
    """Return the sizes of the operand, None if open, each beside that of the target, of a bidirectional Broadcast."""
    dims, target = graph.shape(node).dims, graph.constant(node, 1)
    if node.attributes.get("mode") != "bidirectional" or target is None or dims is None:
        return ()
    sizes = (dim.lower if dim.is_static else None for dim in reversed(dims))
    return list(zip(sizes, reversed(target.ravel().tolist()), strict=False))


def _broadcast_to_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True if a bidirectional Broadcast has to turn a 1 of the operand into a 0."""
    dims = graph.shape(node).dims or ()
    is_empty = any(dim.is_static and dim.lower == 0 for dim in dims)
    return (1, 0) in _pairs(graph, node) and not is_empty and not graph.origins(node, 0)


def _boolean_of_another_output(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Convert to boolean of another output than the first one, of an operation that has a default output."""
    source = _converted_to_boolean(graph, node)
    found = None if source is None else graph.graph.producer(source)
    return found is not None and not found.bodies and found.type not in _NO_DEFAULT_OUTPUT and source != found.outputs[0]


def _boolean_without_default_output(graph: PatternGraph, node: Node) -> bool:
    source = _converted_to_boolean(graph, node)
    found = None if source is None else graph.graph.producer(source)
    return found is not None and found.type in _NO_DEFAULT_OUTPUT


def _converted_to_boolean(graph: PatternGraph, node: Node) -> Key | None:
    """Return what OpenVINO converts to boolean, before each Transpose that it then does later; None if boolean or folded."""
    if graph.made_type(node) != "boolean" or graph.type(node) == "boolean" or graph.is_folded(node, 0):
        return None
    source, is_read_once = graph.source(node), True
    for _ in range(LAYERS):
        found = None if source is None else graph.graph.producer(source)
        if found is None:
            break
        is_read_once &= graph.only_reader(found) and not graph.is_output(found)
        before = before_removed(graph, found)
        if before is None and found.type == "Transpose" and is_read_once:
            before = graph.source(found)
        if before is None:
            break
        source = before
    return source


_NOT_ZERO = "use NotEqual with 0 instead of Convert"

MOVES = (
    KnownFault(
        report="abs_overwrites_concat",
        types=("Abs",),
        occurs=_concat_abs,
        instead="Abs overwrites the vector from Concat, which another node still reads",
        remedy="compute Abs of the operands, and join the results by another Concat",
        converter="avoids",
    ),
    KnownFault(
        report="tile_run_time_repeats",
        types=("Tile",),
        occurs=_tile,
        operands=2,
        instead="if four axes are repeated, or three after one that is not, parts of the output are uninitialized memory",
        remedy="make the repeats constant, or use Broadcast and Reshape",
        converter="avoids",
    ),
    KnownFault(
        report="tile_of_one_channel",
        types=("Tile",),
        occurs=_of_one_channel,
        operands=2,
        instead="Tile of 4 or 5 axes, of which the second has size 1 and another is open, mixes up elements if it repeats two",
        remedy="tile along six axes: insert axes of size 1 at the front, and remove them again",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="gather_batches_of_one",
        types=("Gather",),
        occurs=_gather_batches,
        operands=3,
        instead="with batch dimensions of 1 and static shapes, Gather reads unrelated memory, or ends the process",
        remedy="squeeze the batch dimensions and use batch_dims=0, or leave a dimension open",
        effect=Effect.FATAL,
    ),
    KnownFault(
        report="gather_of_inserted_axis",
        types=("Gather",),
        beside=("Unsqueeze",),
        occurs=_of_inserted_axis,
        operands=3,
        instead="Gather along the axis that an Unsqueeze inserts is removed together with it: the axis is lost",
        remedy="count the axis of one of the two from the back",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="quantised_gather",
        types=("Gather",),
        occurs=_quantised,
        operands=3,
        instead="Gather of a quantised MatMul ends the process in compile_model",
        remedy="put a Reshape or an Add between MatMul and Gather, or quantise activations without a zero point",
        effect=Effect.FATAL,
    ),
    KnownFault(
        report="gather_1_with_open_axis",
        types=("Gather",),
        occurs=_open_axis,
        operands=3,
        instead="Gather-1 whose axis is computed ends the process in compile_model",
        remedy="make the axis a constant",
        effect=Effect.FATAL,
    ),
    KnownFault(
        report="slice_of_computed_axes",
        types=("Slice",),
        occurs=_computed_axes,
        operands=_AXES + 1,
        instead="Slice whose axes alone are computed ends the process at the first inference",
        remedy="make the axes constants, or add axes - axes to start",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="strided_slice_mixed_masks",
        types=("StridedSlice",),
        occurs=_mixed_masks,
        instead="StridedSlice that adds one axis and removes another leaves most of its output unwritten",
        remedy="add the axis by an Unsqueeze of its own",
    ),
    KnownFault(
        report="broadcast_of_no_elements",
        types=("Broadcast",),
        occurs=_broadcast_of_nothing,
        operands=2,
        instead="Broadcast of a static shape without elements ends the process in compile_model",
        remedy="replace it by a constant without elements, or leave a dimension open",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="broadcast_of_empty_constant",
        types=("Broadcast",),
        occurs=_broadcast_of_empty_constant,
        operands=2,
        instead="folding a Broadcast of a constant without elements ends the process",
        remedy="replace it by a constant without elements",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="bidirectional_broadcast_of_no_elements",
        types=("Broadcast",),
        occurs=_is_refused,
        operands=2,
        instead="a bidirectional Broadcast of a static shape without elements is refused",
        remedy="replace it by a constant without elements, or leave a dimension open",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="bidirectional_broadcast_to_no_elements",
        types=("Broadcast",),
        occurs=_broadcast_to_nothing,
        operands=2,
        instead="a bidirectional Broadcast to a shape without elements returns a row of elements",
        remedy="use mode numpy, or replace it by a constant without elements",
        converter="avoids",
    ),
    KnownFault(
        report="convert_to_boolean_of_another_output",
        types=("Convert", "ConvertLike"),
        occurs=_boolean_of_another_output,
        instead="Convert to boolean reads the first output of the node before it, not the one it is connected to",
        remedy=_NOT_ZERO,
        converter="avoids",
    ),
    KnownFault(
        report="convert_to_boolean_is_refused",
        types=("Convert", "ConvertLike"),
        occurs=_boolean_without_default_output,
        instead="Convert to boolean of an output of LSTMSequence, TopK or VariadicSplit is refused by compile_model",
        remedy=_NOT_ZERO,
        effect=Effect.FATAL,
        converter="avoids",
    ),
)

"""Faults in reductions, and in arithmetic that the CPU plugin fuses with a reduction of integers before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from math import inf, nan, prod

from ov_gather.graph.protocol import Node
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.plugin.base import REAL, Effect, KnownFault
from ov_gather.plugin.pattern_graph import LAYERS, VIEWS, PatternGraph
from ov_gather.plugin.removed import before_removed, producer_before_removed, returned_input
from ov_gather.plugin.turns import REDUCING, moved_behind, size_of, turn_of
from ov_gather.system.traversal import reachable

_INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
_UNSIGNED = ("u8", "u16", "u32", "u64")
OF_NOTHING = {"ReduceMax": -inf, "ReduceMean": nan, "ReduceMin": inf}
"""What reductions of nothing must be."""
_FUSED = ("Abs", "Broadcast", "Clamp", "Convert", "ConvertLike", "Negative", "ReLU")
"""Steps that are fused with the reduction, too, removed, or done later."""
_WITH_CONSTANT = ("Add", "Divide", "Multiply", "Subtract")
_PASSING = where(OPENVINO, lambda op: op.by_element or op.kind in (OpKind.MOVE, OpKind.GATHER)) | {"ReduceMax", "ReduceMin"}
"""Operations that infinities of an operand pass."""
_LARGEST_MASK = 1 << 24
"""Most elements of a constant that is searched for infinities."""
_DONE_LATER = ("Gather", "Reshape", "Roll", "Squeeze", "Transpose", "Unsqueeze")
"""Steps that OpenVINO does after arithmetic whose second operand is a constant."""


def _reduction(graph: PatternGraph, node: Node, position: int) -> Node | None:
    """Return the reduction of integers that only this input reads, possibly behind other steps."""
    if graph.type(node, position) not in _INTEGERS:
        return None
    source, has_views = graph.producer(node, position), False
    for _ in range(LAYERS):
        before = _step(graph, source, position) if source and graph.only_reader(source) else None
        if source is None or before is None:
            break
        has_views = has_views or source.type in VIEWS
        source = graph.producer(source, before)
    if source is None or (position and has_views and graph.made(source) != graph.shape(node, position)):
        return None
    if not source.type.startswith("Reduce") or source.type.startswith("ReduceLogical"):
        return None
    is_computed = graph.type(source) in _INTEGERS and graph.only_reader(source) and not graph.origins(source, 0)
    return source if is_computed else None


def _step(graph: PatternGraph, node: Node, position: int) -> int | None:
    """Return the input of a step that does not keep arithmetic from being fused with a reduction before; None if it does."""
    if not node.outputs or graph.made_type(node) not in _INTEGERS:
        return None
    if node.type in _WITH_CONSTANT:
        return next((i for i in (0, 1) if _is_fused(graph, node, 1 - i, None)), None)
    is_done_later = node.type in (VIEWS if position else _DONE_LATER)  # views may undo one another
    return 0 if node.type in _FUSED or is_done_later else returned_input(graph, node)


def _is_fused(graph: PatternGraph, node: Node, position: int, neutral: int | None) -> bool:
    """Return True for a constant of one element, or of one a channel, unless it is neutral."""
    if not graph.origins(node, position):
        return False
    sizes, reduced = graph.shape(node, position).sizes, graph.shape(node, 1 - position).sizes
    aligned = (1,) * (len(reduced) - len(sizes)) + sizes
    if any(size != 1 and (axis != 1 or reduced[axis] == 1) for axis, size in enumerate(aligned)):
        return False
    value = graph.constant(node, position)
    return neutral is None or value is None or bool((value != neutral).any())


def _after_3d(graph: PatternGraph, node: Node) -> bool:
    """Return True for arithmetic with a constant after a reduction of 3-D integers that keeps the first axis."""
    for position in range(len(node.inputs)):
        reduction = _reduction(graph, node, position)
        if reduction is None:
            continue
        neutral = None if node.type == "Subtract" and position == 1 else int(node.type == "Multiply")
        dims, axes = graph.shape(reduction).dims or (), graph.constant(reduction, 1)
        reduced = set() if axes is None else {int(axis) % 3 for axis in axes.ravel()}
        if len(dims) != 3 or dims[0].upper == 1 or not reduced or 0 in reduced:
            return False
        if reduced == {2} and dims[0].upper is not None and dims[0].upper <= dims[1].lower:  # as many slices are right
            return False
        return node.type == "Negative" or _is_fused(graph, node, 1 - position, neutral)
    return False


def _is_fused_with_reduction(graph: PatternGraph, node: Node, position: int, neutral: int | None = None) -> bool:
    """Return True if one operand is a reduction, without a conversion of bytes between, and the other a constant."""
    reduction = _reduction(graph, node, position)
    if reduction is None or not _is_fused(graph, node, 1 - position, neutral):
        return False
    kinds = {graph.type(node), graph.type(reduction)}
    return len(kinds) == 1 or not kinds & {"i8", "u8"}


def _exchanged(graph: PatternGraph, node: Node) -> bool:
    return _is_fused_with_reduction(graph, node, 1)


def _saturated(graph: PatternGraph, node: Node) -> bool:
    return graph.type(node) in _UNSIGNED and _exchanged(graph, node)


def _rounded(graph: PatternGraph, node: Node) -> bool:
    return _is_fused_with_reduction(graph, node, 0, neutral=1)


def _of_reversed_axes(graph: PatternGraph, node: Node) -> bool:
    """Return True for what moves before the Transpose of an empty order, which reverses the axes, that only it reads."""
    transpose = producer_before_removed(graph, node, 0, "Convert") if graph.reverses_axes else None
    if transpose is None or transpose.type != "Transpose" or not graph.only_node(transpose):
        return False
    order = graph.constant(transpose, 1)
    return order is not None and order.size == 0 and graph.constant(node, 1) is not None


def _reduced_another(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Reduce that keeps its axes, unless it reduces the last one alone."""
    rank, axes = graph.shape(node).rank, graph.constant(node, 1)
    if not node.is_set("keep_dims") or not rank or axes is None or {int(axis) % rank for axis in axes.ravel()} <= {rank - 1}:
        return False
    return _of_reversed_axes(graph, node)


def _drops_reversed(graph: PatternGraph, node: Node) -> bool:
    return not node.is_set("keep_dims") and _of_reversed_axes(graph, node)


def _drops_shape(graph: PatternGraph, node: Node) -> bool:
    """Return True for a reduction that drops axes, if OpenVINO takes a change of shape behind for one that restores them.

    A Transpose of axes of size 1 alone is such a change, too, and so is one that OpenVINO moves behind the reduction.
    """
    if node.is_set("keep_dims") or graph.constant(node, 1) is None or not graph.shape(node).rank:
        return False
    turn = turn_of(graph, node)
    if turn is not None and turn.made != list(turn.dims) and _restores(turn.target, turn.taken):
        return True
    if graph.is_output(node):
        return False
    changes = (one for one in _changes(graph, node) if _differ(graph.made(node), graph.made(one)))
    return any(_restores(_target(graph, one), _taken(graph, node)) for one in changes)


def _taken(graph: PatternGraph, node: Node) -> set[int]:
    """Return the axes that a reduction drops, with those that others of its type drop before: OpenVINO makes one of them."""
    turn = moved_behind(graph, node)
    if turn and list(turn.order) == sorted(turn.order):
        return set(turn.taken)
    row = [node]
    while len(row) < LAYERS:
        before = producer_before_removed(graph, row[-1])
        if before is None or before.type != node.type or before.is_set("keep_dims") or not graph.only_node(before):
            break
        row.append(before)
    taken = set[int]()
    for one in reversed(row):
        axes, rank = graph.constant(one, 1), graph.shape(one).rank
        if axes is None or rank is None:
            return set()
        left = [axis for axis in range(rank + len(taken)) if axis not in taken]
        taken |= {left[axis] for axis in axes.ravel().tolist()}
    return taken


def _differ(left: PartialShape, made: PartialShape) -> bool:
    """Return True unless as many sizes are the same for certain; a single one that is open is what the others leave."""
    pairs = [*zip(left.dims or (), made.dims or (), strict=False)]
    is_other = any(one.intersect(other) is None for one, other in pairs)
    return left.rank == made.rank and (is_other or sum(one != other or not one.is_static for one, other in pairs) > 1)


def _restores(target: Sequence[int], taken: Collection[int]) -> bool:
    """Return True for sizes of several axes that all but one, at most, are copied, or are 1 where an axis was taken."""
    other = [axis for axis, size in enumerate(target) if size != 0 and (size != 1 or axis not in taken)]
    return len(target) > 1 and len(other) <= 1


def _target(graph: PatternGraph, node: Node) -> Sequence[int]:
    """Return the sizes that a node changes a shape to, 0 for those that it copies, and -1 for others that are not known."""
    if node.type == "Transpose":
        turn = turn_of(graph, node)
        return () if turn is None else turn.target
    sizes = graph.constant(node, 1) if node.type == "Reshape" and node.is_set("special_zero") else None
    return [size_of(dim) for dim in graph.made(node).dims or ()] if sizes is None else sizes.ravel().tolist()


def _changes(graph: PatternGraph, node: Node) -> Iterator[Node]:
    """Yield the nodes that change the shape of a result, unless a Reshape alone reads them, which then counts."""
    waiting, seen = [node], set[Node]()
    while waiting and len(seen) < LAYERS:
        key = waiting.pop().outputs[0]
        readers = [one for one in graph.readers(key) if not one.is_output]
        following = [one for reader in readers for port in reader.outputs for one in graph.readers(port)]
        undoing = [one for one in following if not one.is_output and before_removed(graph, one) == key]
        for reader in readers + undoing:
            if reader in seen:
                continue
            seen.add(reader)
            is_view = reader.type in VIEWS and graph.source(reader) == key
            if before_removed(graph, reader) == key or (is_view and graph.only_node(reader)):
                waiting.append(reader)
            is_change = is_view or (reader.type == "Transpose" and turn_of(graph, reader) is not None)
            if is_change and not all(one.type == "Reshape" for one in graph.readers(reader.outputs[0])):
                yield reader


def _saturates(graph: PatternGraph, node: Node) -> bool:
    """Return True for bytes whose sum or product may need more than 8 bits."""
    sizes = graph.shape(node)
    if graph.is_folded(node, 0):
        return False
    low, high = graph.known.bounds(node, 0)
    limit, count = 255 if graph.type(node) == "u8" else 127, prod(sizes.sizes) if sizes.is_static else inf
    return max(high, -low) > 1 if node.type == "ReduceProd" else max(high, -low) * count > limit


def _of_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True for fractions along an axis of a static size of 0, or along computed axes if there is one."""
    dims = graph.shape(node).dims or ()
    if all(dim.upper != 0 for dim in dims):
        return False
    if graph.const(node, 1) is None and graph.shape(node, 1).sizes != (len(dims),):
        return True
    given = graph.constant(node, 1)
    axes = range(len(dims)) if graph.shape(node, 1).sizes == (len(dims),) else () if given is None else given.ravel()
    return any(dims[int(axis)].upper == 0 for axis in axes)


def _of_infinities(graph: PatternGraph, node: Node) -> bool:
    """Return True if infinities of a constant, as those of a mask, may be all the elements, unless a Select chooses then."""
    least = -inf if node.type == "ReduceMax" else inf
    if any(one.type == "Select" and graph.producer(one, 0, "ReduceLogicalAnd") for one in graph.readers(node.outputs[0])):
        return False

    def before(one: Node) -> list[Node]:
        inputs = range(len(one.inputs)) if one.type in _PASSING else ()
        return [found for i in inputs if (found := graph.producer(one, i))]

    constants = (one for one in islice(reachable([node], before), LAYERS) if one.type == "Const")
    return any(_holds(graph, one, least) for one in constants)


def _holds(graph: PatternGraph, const: Node, number: float) -> bool:
    shape = graph.made(const)
    if graph.made_type(const) not in REAL or not shape.is_static or prod(shape.sizes) > _LARGEST_MASK:
        return False
    found = graph.value(const.outputs[0])
    return found is not None and bool((found == number).any())


_REVERSED = "write the order of the Transpose: [1, 0] for two axes"
_APART = "compute with the operand in the full shape of the result, which is not fused, or in f32"

REDUCTIONS = (
    KnownFault(
        report="reduction_of_reversed_axes",
        types=REDUCING,
        beside=("Transpose",),
        occurs=_reduced_another,
        operands=2,
        instead="a reduction after a Transpose of the empty order, which reverses the axes, reduces another axis",
        remedy=_REVERSED,
        taints=True,
    ),
    KnownFault(
        report="squeeze_of_reversed_axes",
        types=(*REDUCING, "Squeeze"),
        beside=("Transpose",),
        occurs=_drops_reversed,
        operands=2,
        instead="what removes an axis after a Transpose of the empty order is refused by compile_model",
        remedy=_REVERSED,
        effect=Effect.FATAL,
    ),
    KnownFault(
        report="reshape_after_reduction",
        types=REDUCING,
        beside=(*VIEWS, "Transpose"),
        occurs=_drops_shape,
        operands=2,
        instead="a Reshape, or a Transpose of axes of size 1, after a reduction that drops axes is dropped",
        remedy="keep the axes of the reduction with size 1",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="reductions_of_nothing",
        types=tuple(OF_NOTHING),
        element_types=REAL,
        occurs=_of_nothing,
        operands=2,
        instead="the maximum and minimum of nothing are the greatest finite numbers instead of infinite, and the mean is 0",
        remedy="add an infinite number, or NaN",
        converter="avoids",
    ),
    KnownFault(
        report="maximum_of_infinities",
        types=("ReduceMax", "ReduceMin"),
        element_types=REAL,
        occurs=_of_infinities,
        operands=2,
        instead="the maximum of numbers that are all minus infinity, as of a masked row, is the least finite number",
        remedy="choose the infinity by a Select where all numbers equal it",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="byte_reductions_saturate",
        types=("ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum"),
        element_types=("i8", "u8"),
        occurs=_saturates,
        operands=2,
        instead="sums and products of bytes beyond 8 bits saturate, also within ReduceMean",
        remedy="reduce in i32 and convert",
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="arithmetic_after_integer_reduction",
        types=("Add", "Subtract", "Multiply", "Negative"),
        element_types=_INTEGERS,
        beside=REDUCING,
        occurs=_after_3d,
        instead="arithmetic after a reduction of 3-D integers is right in the first slice only",
        remedy=_APART,
        converter="avoids",
    ),
    KnownFault(
        report="constant_divided_by_reduction",
        types=("Divide",),
        element_types=_INTEGERS,
        beside=REDUCING,
        occurs=_exchanged,
        operands=2,
        instead="the constant and the reduction of integers are exchanged",
        remedy=_APART,
        converter="avoids",
    ),
    KnownFault(
        report="constant_minus_byte_reduction",
        types=("Subtract",),
        element_types=_UNSIGNED,
        beside=REDUCING,
        occurs=_saturated,
        operands=2,
        instead="a constant minus a reduction of unsigned integers is 0, wraps around, or is the reduction itself",
        remedy="compute in i32 and convert",
        converter="avoids",
    ),
    KnownFault(
        report="divide_after_reduction",
        types=("Divide",),
        element_types=_INTEGERS,
        beside=REDUCING,
        occurs=_rounded,
        operands=2,
        instead="the integer quotient of the reduction is rounded to the nearest integer, not down",
        remedy=_APART,
        converter="avoids",
    ),
)

"""Faults of tensors without elements, and of shapes without sizes."""

from __future__ import annotations

from ov_gather.graph.protocol import Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph
from ov_gather.plugin.removed import producer_before_removed
from ov_gather.plugin.turns import PASSED, turn_of


def _by_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True if the second input, sizes or repeats, has no elements."""
    sizes = graph.shape(node, 1)
    return sizes.is_static and sizes.sizes == (0,)


def _to_scalar(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Broadcast by no sizes; a folded one of a scalar is right, unless it is an output of the model."""
    if not _by_nothing(graph, node):
        return False
    if graph.origins(node, 1):
        return graph.shape(node).rank == 0 and graph.is_output(node)
    return node.attributes.get("mode") == "bidirectional"


def _beside_open(graph: PatternGraph, node: Node) -> bool:
    """Return True if an operand of Concat has a size of 0 off the axis where that of another operand is open."""
    shapes = [graph.shape(node, position).dims or () for position in range(len(node.inputs))]
    axis = node.integer("axis")
    for at, sizes in enumerate(zip(*shapes, strict=False)):
        is_other = (at - axis) % len(shapes[0]) != 0
        if is_other and any(dim.upper == 0 for dim in sizes) and any(not dim.is_static for dim in sizes):
            return True
    return False


def _over_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True for matrices of a static inner size of 0. OpenVINO makes a MatMul of an Einsum that sums over it."""
    if node.type == "Einsum":
        return _sums_over_nothing(graph, node)
    for position, name, is_second in ((0, "transpose_a", 0), (1, "transpose_b", 1)):
        dims = graph.shape(node, position).dims or ()
        if len(dims) < 2:
            return False
        if dims[-1 if node.is_set(name) == bool(is_second) else -2].upper == 0:
            return True
    return False


def _sums_over_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True for an Einsum that sums over a static size of 0."""
    axes = enumerate(summed_axes(node.text("equation")))
    return any((graph.shape(node, at).dims or ())[axis].upper == 0 for at, summed in axes for axis in summed)


def summed_axes(equation: str) -> list[dict[int, str]]:
    """Return the axes of each operand that an Einsum sums over, from the end behind an ellipsis, and their labels."""
    given, arrow, result = equation.replace(" ", "").replace("...", ".").partition("->")
    operands = given.split(",")
    kept = result if arrow else "".join(label for label in given if given.count(label) == 1)
    return [
        {at - len(labels) * ("." in labels[:at]): label for at, label in enumerate(labels) if label not in f"{kept}."}
        for labels in operands
    ]


def _of_none(graph: PatternGraph, node: Node) -> bool:
    """Return True for a k of 0, unless the TopK is folded in the body of a Loop, which is unrolled before."""
    count = graph.constant(node, 1)
    if count is None or count.size != 1 or count.any():
        return False
    around = None if node.within is None else graph.graph.producer(node.within)
    return not (around and around.type == "Loop" and graph.is_folded(node, 0))


def _of_moved_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True for a static shape without elements, if a Transpose before has moved axes of size 1 alone."""
    transpose, shape = producer_before_removed(graph, node), graph.shape(node)
    if transpose is None or transpose.type != "Transpose" or not shape.is_static or 0 not in shape.sizes:
        return False
    return turn_of(graph, transpose) is not None


def _moves_open_sizes(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Transpose that moves axes of size 1 alone past several open ones, one of which may have size 0."""
    turn = turn_of(graph, node)
    moved = (
        [] if turn is None else [dim for dim, (at, axis) in zip(turn.made, enumerate(turn.order), strict=True) if at != axis]
    )
    opened = [dim for dim in moved if not dim.is_static]
    return len(opened) > 1 and any(0 in dim for dim in opened)


def _moves_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Reshape in place of a Transpose that copies the size before where the size must be 0."""
    turn = turn_of(graph, node) if graph.moves_nothing else None
    pairs = () if turn is None else zip(turn.dims, turn.made, strict=True)
    return any(dim.upper == 0 and before.upper != 0 for before, dim in pairs)


def _loses_size(graph: PatternGraph, node: Node) -> bool:
    """Return True for a static size of 0 and a single open one, which OpenVINO infers from the number of elements."""
    dims = graph.shape(node).dims or ()
    if not any(dim.upper == 0 for dim in dims) or sum(not dim.is_static for dim in dims) != 1:
        return False
    return node.within is not None or any(one.type != "Result" for one in graph.readers(node.outputs[0]))


EMPTIES = (
    KnownFault(
        report="transpose_of_nothing",
        types=("Transpose", *PASSED),
        beside=("Transpose",),
        occurs=_moves_nothing,
        operands=2,
        instead="a Transpose that moves axes of size 1 alone gives the size before where a size of 0 belongs",
        remedy="use a Broadcast of 0 to the sizes in the other order",
        converter="avoids",
    ),
    KnownFault(
        report="unsqueeze_of_nothing",
        types=("Squeeze", "Unsqueeze"),
        occurs=_loses_size,
        operands=2,
        instead="an open size beside a size of 0 is 0 for what reads the result, or the model is refused",
        remedy="declare the size, or use a Broadcast of 0 to the sizes of its input",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="concat_of_nothing",
        types=("Concat",),
        occurs=_beside_open,
        operands=2,
        instead="Concat drops an operand without elements, and its size along the axis is missing in the result",
        remedy="leave its sizes open, or declare those of the other operands",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="matmul_over_nothing",
        types=("Einsum", "MatMul"),
        occurs=_over_nothing,
        operands=2,
        instead="a product over an inner size of 0 is uninitialized memory instead of zeros, or is refused",
        remedy="broadcast 0 to the shape of the result",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="topk_of_none",
        types=("TopK",),
        occurs=_of_none,
        operands=2,
        instead="TopK of 0 elements is refused by compile_model",
        remedy="take an empty Slice instead",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="non_zero_of_moved_nothing",
        types=("NonZero",),
        occurs=_of_moved_nothing,
        instead="NonZero of no elements, of which a Transpose has moved axes of size 1, finds some",
        remedy="replace it by a constant without elements",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="broadcast_by_no_sizes",
        types=("Broadcast",),
        occurs=_to_scalar,
        operands=2,
        instead="Broadcast by a shape without sizes is refused, or ends the process",
        remedy="use its input instead",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="tile_by_no_repeats",
        types=("Tile",),
        occurs=_by_nothing,
        operands=2,
        instead="Tile of a scalar by no repeats is uninitialized memory, or ends the process",
        remedy="use its input instead",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="transpose_of_open_sizes",
        types=("Transpose", *PASSED),
        beside=("Transpose",),
        occurs=_moves_open_sizes,
        operands=2,
        instead="where a size is 0, a Transpose that moves axes of size 1 alone has other sizes, or is refused",
        remedy="use a Reshape without special_zero to the sizes in the other order",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
)

"""Faults in what OpenVINO computes from constants while it compiles a model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ov_gather.graph.protocol import Node
from ov_gather.ops import opsets_of_family
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import CONVERSIONS, LAYERS, PatternGraph
from ov_gather.plugin.removed import before_folded, returned_input
from ov_gather.system.traversal import reachable

_POSITIVE = ("Abs", "Exp", "ReLU", "Sigmoid", "Sqrt", "SquaredDifference", "ShapeOf")
_MOVES = (
    *("Broadcast", "Ceiling", "Convert", "Floor", "Gather", "Reshape", "Round", "Slice", "Squeeze", "StridedSlice", "Tile"),
    *("Transpose", "Unsqueeze"),
)
_GATHERS = ("GatherElements", "GatherND")
_JOINS = ("Concat", "Pad", "Select")
_SUMS = ("Add", "Concat", "Divide", "FloorMod", "Maximum", "Minimum", "Mod", "Multiply", "Power")
"""Operations that make no negative number of others."""
_NOT_DROPPED = ("Concat", "Const", "Roll")
"""Operations whose Abs OpenVINO computes; it drops that of others if they are computed from constants."""
_DROPPING = ("f16", "f32", "i32", "i64")


def _abs(graph: PatternGraph, node: Node) -> bool:
    """Return True if Abs reads a vector that may have negative elements, computed from constants and sizes alone."""
    if graph.shape(node).rank != 1 or graph.type(node) not in _DROPPING:
        return False
    source = before_folded(graph, node, 0)
    joined = None if source is None else graph.graph.producer(source)
    if joined is None or joined.type != "Concat":
        return _is_dropped(graph, node, 0)
    operands = range(min(len(joined.inputs), LAYERS))  # to which OpenVINO moves Abs
    return any(_is_dropped(graph, joined, position) for position in operands)


def _is_dropped(graph: PatternGraph, node: Node, position: int) -> bool:
    """Return True if OpenVINO drops Abs of an input, and it may have negative elements.

    Compressed constants are folded later, unless they are gathered.
    """
    source, origins = before_folded(graph, node, position), graph.origins(node, position, sizes=True)
    found = None if source is None else graph.graph.producer(source)
    if found is None or found.type in _NOT_DROPPED or not origins:
        return False
    if any(one.decompresses for one in origins) and not any(one.type == "Gather" for one in origins):
        return False
    return graph.known.bounds(node, position)[0] < 0 and _may_be_negative(graph, node, position)


def _may_be_negative(graph: PatternGraph, node: Node, position: int) -> bool:
    """Return True if an input may have negative elements. Each node is looked at once, as many may read the same one."""
    seen: set[Node] = set()
    waiting = [(node, position)]
    while waiting:
        source = graph.producer(*waiting.pop())
        if source is None or source in seen or source.type in _POSITIVE:
            continue
        seen.add(source)
        if source.type == "Const":
            value = graph.value(source.outputs[0])
            if value is None or (value.dtype.kind in "if" and bool((value < 0).any())):
                return True
        elif source.type in _SUMS:
            waiting += [(source, i) for i in range(len(source.inputs))]
        elif source.type in _MOVES or source.type == "Clamp":
            if source.type in _MOVES or float(source.attributes.get("min", "-1")) < 0:
                waiting.append((source, 0))
        else:
            return True
    return False


def _abs_of_clamp(graph: PatternGraph, node: Node) -> bool:
    return graph.producer(node, 0, "Clamp") is not None and _abs(graph, node)


def _abs_of_folded(graph: PatternGraph, node: Node) -> bool:
    return graph.producer(node, 0, "Clamp") is None and _abs(graph, node)


def _abs_of_view(graph: PatternGraph, node: Node) -> bool:
    """Return True if Abs, which OpenVINO moves into a Concat, reads a reshaped vector of constants."""
    if graph.shape(node).rank != 1:
        return False
    joined = graph.producer(node, 0, "Concat") or node
    return any(_is_reshaped(graph, joined, position) for position in range(min(len(joined.inputs), LAYERS)))


def _is_reshaped(graph: PatternGraph, node: Node, position: int) -> bool:
    """Return True for what is computed from constants and sizes, but reshaped to computed shapes, all of them of vectors.

    OpenVINO does not look through a Reshape to more axes, of open sizes.
    """
    source = graph.producer(node, position)
    if source is None or graph.origins(node, position, sizes=True):
        return False

    def operands(one: Node) -> list[Node]:
        positions = () if one.type == "ShapeOf" else range(1 if one.type == "Reshape" else len(one.inputs))
        return [found for position in positions if (found := graph.producer(one, position))]

    found = list(islice(reachable([source], operands), LAYERS))
    made = [graph.made(one) for one in found if one.type == "Reshape"]
    is_seen = bool(made) and all(shape.rank == 1 or shape.is_static for shape in made)
    return is_seen and all(one.inputs or one.type == "Const" for one in found)


def _gather_before_matmul(graph: PatternGraph, node: Node) -> bool:
    """Return True if a MatMul of batches reads, transposed, a 3-D gather of constants that a Transpose reorders."""
    if not any(one.type in _GATHERS for one in graph.origins(node, 1)):
        return False
    orders, is_transposed = list(_orders(graph, node)), node.is_set("transpose_b")
    if orders[:1] == [(0, 2, 1)]:
        orders, is_transposed = orders[1:], not is_transposed  # OpenVINO lets MatMul transpose
    if not is_transposed or not orders or {len(one) for one in orders} != {3} or graph.shape(node, 1).rank != 3:
        return False
    order = orders[0]
    for before in orders[1:]:  # OpenVINO fuses them
        order = tuple(before[axis] for axis in order)
    return order[0] != 0 and _reorders(graph, node, order)


def _orders(graph: PatternGraph, node: Node) -> Iterator[tuple[int, ...]]:
    """Yield the orders of the Transposes before the second operand, the last first."""
    position, seen = 1, set[Node]()
    while (source := graph.producer(node, position)) and source not in seen:
        seen.add(source)
        if source.type in ("Const", *_GATHERS):
            return
        if source.type == "Transpose" and (order := graph.constant(source, 1)) is not None:
            yield tuple(order.tolist())
        node, position = source, 0


def _reorders(graph: PatternGraph, node: Node, order: tuple[int, ...]) -> bool:
    """Return True if there are several matrices, and an order moves their elements: axes of size 1 do not count."""
    transpose = [one for one in graph.origins(node, 1) if one.type == "Transpose"][-1]
    sizes = graph.shape(transpose).sizes
    kept = [axis for axis in order if sizes[axis] != 1]
    return sizes[order[0]] != 1 and kept != sorted(kept)


def _non_zero(graph: PatternGraph, node: Node) -> bool:
    """Return True for one element of several dimensions, computed from constants, that may be other than 0."""
    sizes = graph.shape(node).sizes
    if len(sizes) < 2 or set(sizes) != {1} or not graph.origins(node, 0):
        return False
    value = graph.constant(node, 0)
    return value is None or bool(value.any())


def _too_few(graph: PatternGraph, node: Node) -> bool:
    """Return True if TopK wants more elements of constants than there are along its axis."""
    count, sizes = graph.constant(node, 1), graph.shape(node).sizes
    if count is None or count.size != 1 or not sizes or not graph.origins(node, 0):
        return False
    return int(count.ravel()[0]) > sizes[int(node.attributes.get("axis", "0"))] >= 0


def _large_unsigned(graph: PatternGraph, node: Node) -> bool:
    """Return True for a constant, possibly converted, that is stored with values from 2^31 on, unless OVG704 checks it."""
    if not _is_stored(graph, node):
        return False
    name = graph.made_type(node)
    const = graph.const(node, 0) if node.inputs else node.outputs[0]
    value = None if const is None else graph.value(const)
    return value is not None and bool((value.astype(f"uint{name[1:]}") >= 2**31).any())


def _is_stored(graph: PatternGraph, node: Node) -> bool:
    """Return True if a constant is read in the inference, maybe after its elements were moved while the model is compiled."""

    def moved(constant: Node) -> list[Node]:
        return [one for one in _readers(graph, constant) if _is_folded(graph, one) and _keeps_elements(graph, one)]

    constants = islice(reachable([node], moved), LAYERS)
    return any(_stores(graph, reader) for constant in constants for reader in _readers(graph, constant))


def _keeps_elements(graph: PatternGraph, node: Node) -> bool:
    is_move = node.type in (*_MOVES, *_JOINS) and node.type not in CONVERSIONS
    return is_move or returned_input(graph, node) is not None


def _stores(graph: PatternGraph, reader: Node) -> bool:
    """Return True for a reader that gets a constant itself in the inference, not its size."""
    if reader.type in CONVERSIONS:
        return graph.made_type(reader) == "i64"  # which the CPU plugin stores as i32
    is_apart = reader.type == "ShapeOf" or opsets_of_family(reader.type) or _is_folded(graph, reader)
    return reader.is_output or not is_apart


def _readers(graph: PatternGraph, node: Node) -> list[Node]:
    return graph.readers(node.outputs[0])


def _is_folded(graph: PatternGraph, node: Node) -> bool:
    return all(graph.origins(node, position) for position in range(len(node.inputs)))


def _pad(graph: PatternGraph, node: Node) -> bool:
    """Return True if the constant value with which integers are padded is no float32, unless no width is positive."""
    value = graph.constant(node, 3) if node.attributes.get("pad_mode") == "constant" and _may_grow(graph, node) else None
    if graph.is_folded(node, 0) or value is None or value.dtype.kind not in "iu" or value.dtype.itemsize < 4:
        return False
    return bool((value.astype("f4").astype("f8") != value.astype("f8")).any())


def _late_value(graph: PatternGraph, node: Node) -> bool:
    """Return True if widths of Pad are known in compile_model, one is positive, and the value is computed in the inference."""
    if node.attributes.get("pad_mode") != "constant" or graph.origins(node, 3):
        return False
    return all(graph.origins(node, i) for i in (1, 2)) and _may_grow(graph, node)


def _may_grow(graph: PatternGraph, node: Node) -> bool:
    """Return True unless no width of Pad is positive."""
    widths = [graph.constant(node, i) for i in (1, 2)]
    return any(one is None or bool((one > 0).any()) for one in widths)


_ABS = "write Maximum(x, -x), or the constant with its absolute values"

FOLDED = (
    KnownFault(
        report="abs_of_clamp",
        types=("Abs",),
        occurs=_abs_of_clamp,
        instead="Abs of a Clamp of constants disappears: negative elements stay negative",
        remedy=_ABS,
        since="2025.4",
        converter="avoids",
    ),
    KnownFault(
        report="abs_of_folded_convert",
        types=("Abs",),
        occurs=_abs_of_folded,
        instead="Abs of what is computed from constants or sizes disappears: negative elements stay negative",
        remedy=_ABS,
        since="2025.4",
        converter="avoids",
    ),
    KnownFault(
        report="abs_of_reshaped_constants",
        types=("Abs",),
        occurs=_abs_of_view,
        instead="Abs of constants or sizes that are reshaped to a computed shape is refused by compile_model",
        remedy="compute Abs before the Reshape",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="constant_gather_before_matmul",
        types=("MatMul",),
        beside=_GATHERS,
        occurs=_gather_before_matmul,
        operands=2,
        instead="MatMul reads the gathered constants in another layout, so that most products are wrong",
        remedy="replace the gather of constants by its result",
        since="2025.4",
        converter="avoids",
    ),
    KnownFault(
        report="non_zero_of_one_constant",
        types=("NonZero",),
        occurs=_non_zero,
        instead="only the first row of the result is written; the others are uninitialized memory",
        remedy="replace NonZero of the constant by its result",
        converter="avoids",
    ),
    KnownFault(
        report="topk_of_too_few_constants",
        types=("TopK",),
        occurs=_too_few,
        operands=2,
        instead="folding a TopK of more elements than there are writes memory outside of its outputs",
        remedy="take the minimum of k and the size of the axis",
        effect=Effect.FATAL,
    ),
    KnownFault(
        report="u32_constants_saturate",
        types=("Const", *CONVERSIONS),
        element_types=("u32", "u64"),
        occurs=_large_unsigned,
        operands=0,
        instead="values from 2^31 on become 2^31 - 1",
        remedy="make the constant an input, or use i32 with the same bits",
    ),
    KnownFault(
        report="pad_value_through_float32",
        types=("Pad",),
        occurs=_pad,
        operands=4,
        instead="the value with which integers are padded is rounded to float32",
        remedy="pad with 0, and add or select the value afterwards",
        converter="avoids",
    ),
    KnownFault(
        report="pad_value_of_run_time",
        types=("Pad",),
        occurs=_late_value,
        operands=4,
        instead="with constant widths and a computed value, new elements are 0, or hold the value of an earlier inference",
        remedy="use Concat with a Broadcast of the value, or make the value a constant",
        converter="avoids",
    ),
)

"""Faults that show for some values and sizes only: integers computed in float32, empty axes."""

from __future__ import annotations

from ov_gather.graph.protocol import Key, Node
from ov_gather.ir.shapes import PartialShape
from ov_gather.plugin.base import REAL, Effect, KnownFault
from ov_gather.plugin.pattern_graph import CONVERSIONS, PatternGraph
from ov_gather.plugin.removed import before_removed, producer_before_removed

_COMPARISONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
_CHOICES = (
    *(*_COMPARISONS, "IsFinite", "IsInf", "IsNaN", "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor"),
    *("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"),
)
"""Operations of single elements that make booleans, in whose kernel the CPU plugin computes the Select that reads them."""
_WIDE = ("i32", "i64", "u32", "u64")
_INTEGER_BITS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 32, "u64": 32}
"""The CPU plugin computes integers of 64 bits with 32."""
_FOLDED_FIRST = ("Negative", "Select", "Squeeze")
"""Operations of constants that OpenVINO folds before it would remove them, or a Convert before them."""
_WHOLE = ("Ceiling", "Floor", "Round", "Sign")


def _is_large(graph: PatternGraph, node: Node, *positions: int) -> bool:
    """Return True if one of these inputs has integers of 32 or 64 bits that may not be exact in float32."""
    return any(graph.type(node, i) in _WIDE and not graph.known.is_small(node, i) for i in positions)


def _data(graph: PatternGraph, node: Node) -> bool:
    return _is_large(graph, node, 0)


def _power(graph: PatternGraph, node: Node) -> bool:
    """Return True unless float32 is exact: for small operands, and for powers of 2."""
    base = graph.constant(node, 0)
    return _both(graph, node) and not (base is not None and bool((base == 2).all()))


def _quotient(graph: PatternGraph, node: Node) -> bool:
    """Return True for a large dividend: a small one is exact, as its quotient by a large number is 0."""
    return _both(graph, node) and _data(graph, node)


def _remainder(graph: PatternGraph, node: Node) -> bool:
    """Return True for large operands; a small dividend is the remainder itself, unless the remainder has the divisor's sign."""
    return _both(graph, node) and (node.type == "FloorMod" or _data(graph, node))


def _data_of_inference(graph: PatternGraph, node: Node) -> bool:
    """Return True for large integers, unless OpenVINO folds the operation; it folds no PReLU."""
    return _data(graph, node) and (node.type == "PReLU" or not graph.is_folded(node, 0))


def _both(graph: PatternGraph, node: Node) -> bool:
    return _is_large(graph, node, 0, 1) and not _is_constant(graph, node) and not _is_by_one(graph, node)


def _is_constant(graph: PatternGraph, node: Node) -> bool:
    return graph.is_folded(node, 0) and graph.is_folded(node, 1)


def _is_by_one(graph: PatternGraph, node: Node) -> bool:
    """Return True for a division, or a remainder of one, by 1, which is removed, or exact."""
    divisor = graph.constant(node, 1) if node.type in ("Divide", "FloorMod", "Mod") else None
    return divisor is not None and bool((divisor == 1).all())


def _compared(graph: PatternGraph, node: Node) -> bool:
    """Return True if both operands may be rounded: none is equal to a small integer by rounding."""
    is_itself = graph.source(node, 0) == graph.source(node, 1)
    return all(_is_large(graph, node, i) for i in (0, 1)) and not is_itself and not _is_constant(graph, node)


def _select(graph: PatternGraph, node: Node) -> bool:
    """Return True if a condition is computed that the plugin may fuse with the Select.

    With AVX2, logic of known sizes is not fused, nor are comparisons of fractions: they are compiled apart.
    """
    condition = producer_before_removed(graph, node)
    is_fused = condition is not None and condition.type in _CHOICES and not graph.is_folded(node, 0)
    return is_fused and _is_large(graph, node, 1, 2)


def _limited(graph: PatternGraph, node: Node) -> bool:
    """Return True for large integers that a Clamp limits by a number that float32 rounds."""
    if node.type == "Clamp":
        limits = [float(node.attributes[name]) for name in ("min", "max")]
        return any(map(_is_rounded, limits)) and _data_of_inference(graph, node)
    return _becomes_clamp(graph, node)


def _becomes_clamp(graph: PatternGraph, node: Node) -> bool:
    """Return True if OpenVINO makes such a Clamp of a Minimum of a Maximum, or the reverse, by a number each."""
    outer = _by_number(graph, node)
    if outer is None:
        return False
    first, last = producer_before_removed(graph, node, outer[0]), graph.producer(node, outer[0])
    if first is None or last is None or {first.type, node.type} != {"Maximum", "Minimum"}:
        return False
    inner = _by_number(graph, first)
    if inner is None or not (_is_rounded(outer[1]) or _is_rounded(inner[1])):
        return False
    if graph.is_folded(first, inner[0]) or not (graph.only_node(first) and graph.only_node(last)):
        return False
    return _is_large(graph, first, inner[0])


def _by_number(graph: PatternGraph, node: Node) -> tuple[int, float] | None:
    """Return the position of the operand that is limited by a constant number, and that number; None if there is none."""
    for position in (0, 1):
        limit = graph.constant(node, 1 - position)
        if limit is not None and limit.size == 1:
            return position, float(limit.ravel()[0])
    return None


def _is_rounded(limit: float) -> bool:
    """Return True for an integer of 32 bits that float32 does not represent: its odd factor has more than 24 bits."""
    if not -(2**31) < limit < 2**31 - 1:
        return False
    number = int(limit)
    return number == limit and abs(number) > (1 << 24) * (number & -number)


def _computed(graph: PatternGraph, node: Node) -> bool:
    return not _is_constant(graph, node)


def _away(graph: PatternGraph, node: Node) -> bool:
    """Return True if the step, which is not 0, may lead away from the limit, unless OpenVINO folds the operation."""
    if all(graph.is_folded(node, i) for i in range(3)):
        return False
    (first, last), (least, most), (back, forward) = (graph.known.bounds(node, i) for i in range(3))
    if (back >= 0 and last <= least) or (forward <= 0 and most <= first):
        return False
    start, choice = graph.viewed(node, 0, ("Convert",)), graph.producer(node, 1, "Select")
    if choice and _asks_for_sign(graph, choice, node):
        return not (_is_of(graph, choice, 1, "Maximum", start) and _is_of(graph, choice, 2, "Minimum", start))
    is_ahead = back >= 0 and _is_of(graph, node, 1, "Maximum", start)
    return not is_ahead and not (forward <= 0 and _is_of(graph, node, 1, "Minimum", start))


def _by_zero(graph: PatternGraph, node: Node) -> bool:
    """Return True if a step that is computed may be 0, unless 1 is added then, as `convert` does."""
    least, most = graph.known.bounds(node, 2)
    if least > 0 or most < 0 or graph.origins(node, 2):
        return False
    total = graph.producer(node, 2, "Add")
    added = None if total is None else graph.viewed(total, 1, ("Convert",))
    found = None if added is None else graph.graph.producer(added)
    return found is None or total is None or found.type != "Equal" or graph.source(found) != graph.source(total)


def _is_of(graph: PatternGraph, node: Node, position: int, kind: str, operand: Key | None) -> bool:
    """Return True if an input is the maximum, or minimum, of a tensor and another one."""
    found = graph.producer(node, position, kind)
    return found is not None and operand in [graph.viewed(found, i, ("Convert",)) for i in (0, 1)]


def _asks_for_sign(graph: PatternGraph, choice: Node, node: Node) -> bool:
    """Return True if a Select chooses by whether the step of a Range is greater than 0."""
    condition = graph.viewed(choice, 0, ("Convert",))
    compared = None if condition is None else graph.graph.producer(condition)
    if compared is None or compared.type != "Greater" or graph.source(compared) != graph.source(node, 2):
        return False
    zero = graph.constant(compared, 1)
    return zero is not None and bool(zero.item() == 0)


def _inner(graph: PatternGraph, node: Node) -> bool:
    """Return True if the inner dimension is one that users choose, and more than 1 in constant weights."""
    rows, weights = graph.shape(node), graph.shape(node, 1)
    if node.attributes.get("transpose_a", "false") != "false" or not rows.dims or len(weights.sizes) < 2:
        return False
    inner = weights.sizes[-1 if node.attributes.get("transpose_b", "false") != "false" else -2]
    may_be_one = 1 in rows.dims[-1] and not rows.dims[-1].is_static and inner > 1
    return may_be_one and bool(graph.origins(node, 1)) and graph.known.is_chosen(node, 0, -1)


def _empty_axis(graph: PatternGraph, node: Node) -> bool:
    """Return True if shrink_axis_mask takes an element of an axis that may be empty."""
    mask, dims = node.attributes.get("shrink_axis_mask", ""), graph.shape(node).dims
    if "1" in node.attributes.get("ellipsis_mask", "") + node.attributes.get("new_axis_mask", "") or not dims:
        return False
    return any(flag.strip() == "1" and 0 in dim for flag, dim in zip(mask.split(","), dims, strict=False))


def _scalar(graph: PatternGraph, node: Node) -> bool:
    """Return True if the shape asked for has no sizes; a port of an IR does not tell a scalar from an open rank."""
    return graph.shape(node) == PartialShape.of((0,))


def _nothing_to_search(graph: PatternGraph, node: Node) -> bool:
    """Return True if the sorted axis may be empty."""
    dims = graph.shape(node).dims or ()
    return any(0 in dim for dim in dims[-1:])


def _too_short(graph: PatternGraph, node: Node) -> bool:
    """Return True if a part is the rest of an axis that may be shorter than the other parts."""
    lengths, axis, dims = graph.constant(node, 2), graph.constant(node, 1), graph.shape(node).dims
    if lengths is None or axis is None or not dims or axis.size != 1 or -1 not in lengths:
        return False
    return int(lengths.clip(0).sum()) > dims[int(axis.ravel()[0])].lower


def _before_conversion(graph: PatternGraph, node: Node) -> bool:
    """Return True if a Convert before NonZero, which OpenVINO removes, may make 0 of another number."""
    source, is_folded = graph.producer(node), graph.is_folded(node, 0)
    while source and graph.only_node(source):
        if is_folded and source.type in _FOLDED_FIRST:
            return False
        is_converted = source.type in CONVERSIONS
        if is_converted and _makes_zero(graph, source):
            return True
        before = graph.source(source) if is_converted else before_removed(graph, source)
        source = None if before is None else graph.graph.producer(before)
    return False


def _makes_zero(graph: PatternGraph, convert: Node) -> bool:
    """Return True for a conversion of fractions to integers, or of integers to those of fewer bits."""
    given, made = graph.type(convert), graph.made_type(convert)
    if made not in _INTEGER_BITS:
        return False
    if given not in _INTEGER_BITS:
        return given in REAL and not _is_whole(graph, convert)
    low, high = graph.known.bounds(convert, 0)
    limit = 1 << _INTEGER_BITS[made]
    return _INTEGER_BITS[given] > _INTEGER_BITS[made] and not -limit < low <= high < limit


def _is_whole(graph: PatternGraph, node: Node) -> bool:
    """Return True if an input is rounded, or converted from integers."""
    converted = graph.producer(node, 0, *CONVERSIONS)
    return graph.producer(node, 0, *_WHOLE) is not None or (converted is not None and graph.type(converted) not in REAL)


def _negative_segments(graph: PatternGraph, node: Node) -> bool:
    return graph.known.bounds(node, 1)[0] < 0


_IN_FLOAT = "exact only below 2^24: keep the integers smaller, or compute with parts of 16 bits"

NUMBERS = (
    KnownFault(
        report="reduce_max_through_float32",
        types=("ReduceMax", "ReduceMin"),
        occurs=_data_of_inference,
        instead="integers are rounded to float32",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="reduce_sum_through_float32",
        types=("ReduceSum", "ReduceL1", "ReduceMean"),
        occurs=_data_of_inference,
        instead="integers are added in float32",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="relu_through_float32",
        types=("ReLU", "PReLU"),
        occurs=_data_of_inference,
        instead="integers are rounded to float32",
        remedy="use Maximum with 0",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="power_through_float32",
        types=("Power",),
        occurs=_power,
        operands=2,
        instead="the power of integers is computed in float32",
        remedy="multiply",
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="matmul_through_float32",
        types=("MatMul",),
        occurs=_both,
        operands=2,
        instead="products of integers are computed in float32",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="resize_through_float32",
        types=("Interpolate",),
        occurs=_data,
        instead="integers are rounded to float32",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="reverse_sequence_through_float32",
        types=("ReverseSequence",),
        occurs=_data,
        instead="integers are rounded to float32",
        remedy="reverse by a Gather",
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="select_through_float32",
        types=("Select",),
        occurs=_select,
        operands=3,
        instead="integers chosen by a comparison or by logic are rounded to float32",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="clamp_limits_through_float32",
        types=("Clamp", "Maximum", "Minimum"),
        element_types=_WIDE,
        occurs=_limited,
        instead="integers are limited by a number that is rounded to float32",
        remedy="let another node read the result of the first limit, too",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="equal_through_float32",
        types=_COMPARISONS,
        occurs=_compared,
        operands=2,
        instead="integers are compared as float32: 16777216 equals 16777217",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="divide_in_float32",
        types=("Divide",),
        occurs=_quotient,
        operands=2,
        instead="the quotient of integers is computed in float32",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="floor_mod_in_float32",
        types=("FloorMod", "Mod"),
        occurs=_remainder,
        operands=2,
        instead="the remainder of integers is computed in float32",
        remedy=_IN_FLOAT,
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="bytes_saturate",
        types=("Add", "Subtract", "Multiply"),
        element_types=("i8", "u8"),
        occurs=_computed,
        operands=2,
        instead="results beyond 8 bits saturate instead of wrapping around",
        remedy="compute in i32 and convert",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="non_zero_before_convert",
        types=("NonZero",),
        occurs=_before_conversion,
        instead="a Convert before NonZero is removed: what it makes 0 counts as not 0",
        remedy="use NotEqual with 0 between Convert and NonZero",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="range_by_zero",
        types=("Range",),
        element_types=("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"),
        occurs=_by_zero,
        operands=3,
        instead="a Range of integers ends the process if its step is 0",
        remedy="check that the step is not 0, or add 1 to it then",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="range_away_from_its_limit",
        types=("Range",),
        occurs=_away,
        operands=3,
        instead="a Range whose step leads away from its limit is not empty: it counts on in the wrong direction",
        remedy="take the maximum of limit and start, or their minimum if the step is negative",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="matmul_inner_dimension",
        types=("MatMul",),
        occurs=_inner,
        operands=2,
        instead="an inner dimension of 1 is accepted against constant weights with more rows, and memory beyond it is read",
        remedy="declare the inner dimension",
        effect=Effect.DEPENDS,
        is_of_refused_inputs=True,
    ),
    KnownFault(
        report="strided_slice_of_empty_axis",
        types=("StridedSlice",),
        occurs=_empty_axis,
        instead="an element of an axis without elements is uninitialized memory instead of an error",
        remedy="declare that the axis has at least one element",
        effect=Effect.DEPENDS,
        is_of_refused_inputs=True,
    ),
    KnownFault(
        report="random_scalar",
        types=("RandomUniform",),
        occurs=_scalar,
        operands=3,
        instead="a random scalar is uninitialized memory, the same in each inference",
        remedy="draw a vector of one number, and reshape it",
        converter="avoids",
    ),
    KnownFault(
        report="search_sorted_in_nothing",
        types=("SearchSorted",),
        occurs=_nothing_to_search,
        instead="places in a sequence without elements are uninitialized memory instead of 0",
        remedy="declare that there is at least one element",
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="variadic_split_negative_size",
        types=("VariadicSplit",),
        occurs=_too_short,
        operands=3,
        instead="if the axis is too short, the rest gets a negative size, and parts read memory outside of data",
        remedy="declare the least size of the axis",
        effect=Effect.DEPENDS,
        is_of_refused_inputs=True,
        since="2025.3",
    ),
    KnownFault(
        report="segment_max_of_negative_ids",
        types=("SegmentMax",),
        occurs=_negative_segments,
        operands=2,
        instead="for negative segments, memory before the result is read and written: the process may end",
        remedy="take the maximum of segments and 0, or check them before",
        effect=Effect.DEPENDS,
    ),
)

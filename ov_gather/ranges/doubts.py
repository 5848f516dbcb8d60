"""What may still be believed of results where OpenVINO's constant folding, or the fusion of its CPU plugin, may be wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from ov_gather.graph.protocol import Key, Node
from ov_gather.ir.element_types import BOOLEAN
from ov_gather.ops.table import OPENVINO, OpKind, Trait, where
from ov_gather.plugin.overwritten import IN_PLACE
from ov_gather.plugin.pattern_graph import UNFOLDED
from ov_gather.plugin.register import BY_TYPE, KNOWN
from ov_gather.plugin.turns import PASSED, moves_ones_alone
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.symbols import DoubtfulSize
from ov_gather.ranges.algebra.values import (
    LARGEST_SIZE,
    Value,
    every_value,
    is_integer,
    is_of_sizes,
)
from ov_gather.ranges.graph import AnalysedGraph, has_dynamic_shape
from ov_gather.ranges.origins import Question, of_integers
from ov_gather.ranges.rules.call import Operands, TransferFunction


def _having(*traits: Trait) -> frozenset[str]:
    return where(OPENVINO, lambda op: not op.traits.isdisjoint(traits))


SCALING = _having(Trait.SCALES)
COMPUTED_ANEW = _having(Trait.ANEW)
REMOVABLE = _having(Trait.PASSED, Trait.REMOVED)
_FUSING = _having(Trait.FUSES) | where(OPENVINO, lambda op: op.kind is OpKind.REDUCTION)
_EXACT = _having(Trait.EXACT, Trait.ANEW)
_COMBINING = where(OPENVINO, lambda op: op.by_element)
_CONVERTING = where(OPENVINO, lambda op: op.meaning.converts)
_EXTREMES = where(OPENVINO, lambda op: op.kind is OpKind.ARITHMETIC and op.symbol in ("max", "min"))
_GREATEST, _GREATEST_HALF = 2.0**128 - 2.0**104, 65504.0
"""The greatest numbers of f32 and f16."""
_KEEPING = _having(Trait.PASSED) | where(
    OPENVINO,
    lambda op: (
        op.kind is OpKind.CONSTANT
        or (bool(op.meaning.sources) and not op.meaning.reduces and op.kind not in (OpKind.CAST, OpKind.SCATTER, OpKind.SERIES))
    ),
)
"""Operations whose results are numbers of their operands."""


def weakened(graph: AnalysedGraph, step: Node, call: Operands, rule: TransferFunction) -> Sequence[Value]:
    """Return the abstract outputs of a step of the CPU plugin: of its transfer function, widened by faults that it may meet.

    A fault may be met where `FaultFinder` does not say so: a pattern names what is wrong for certain, a doubt what may be.
    """
    at, found = Computation(graph, step, call, rule), rule(call)
    for one in graph.doubts.get(step) or _doubts_about(graph, step):
        found = one.weaken(at, found)
    return found


def _doubts_about(graph: AnalysedGraph, step: Node) -> Sequence[Doubt]:
    """Return what a step may meet with other operands, too: the graph alone decides, so that analyses share the answer."""
    found: Sequence[Doubt] | None = graph.doubts.get(step)
    if found is None:
        all_of_type = _BY_TYPE.get(step.type, _OF_ALL_TYPES)
        found = graph.doubts[step] = [one for one in all_of_type if one.is_possible is None or one.is_possible(graph, step)]
    return found


def is_doubted(graph: AnalysedGraph, step: Node, call: Operands, rule: TransferFunction) -> bool:
    """Return True if a step of the CPU plugin may meet a fault: its outputs then say nothing about its operands."""
    at, found = Computation(graph, step, call, rule), rule(call)
    return any(one.weaken(at, found) is not found for one in _doubts_about(graph, step))


@dataclass(slots=True)
class Computation:
    """A step, its operands, and its transfer function."""

    graph: AnalysedGraph
    step: Node
    call: Operands
    rule: TransferFunction


Weaken = Callable[[Computation, Sequence[Value]], Sequence[Value]]


@dataclass(frozen=True, slots=True)
class Doubt:
    """What may still be believed of the outputs of a step that may meet a fault.

    Attributes:
        reports: the faults, by their reports; empty if none is reported, as the effect needs a chain of operations.
        types: the types of steps; empty for all.
        weaken: returns the outputs, widened if the step may meet the fault, else the same object.
        is_possible: False if a step meets it with no operands, as the graph says; None if that depends on operands alone.
    """

    reports: tuple[str, ...]
    types: Collection[str]
    weaken: Weaken
    is_possible: Callable[[AnalysedGraph, Node], bool] | None = None


def _tainted(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Nothing is known of what is computed from a result that may be wrong, or of another shape than the declared one."""
    return [replace(value, shape=None) for value in _unknown(at.call, at.call.outputs)]


def _another_output(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Convert to boolean of an output reads the first output of the same operation.

    Convert(Unique([3, 1, 1]).inverse) has two elements. Operations between that change nothing are removed, and a Transpose
    follows later.
    """
    if at.call.outputs[0].element_type is not BOOLEAN:
        return found
    return at.call.outputs if _has_another_shape(at.graph, at.step.inputs[0]) else _unknown(at.call, found)


def _compared_in_float32(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Integers are compared as float32 only together with operations that have no kernel for integers.

    Maximum(FloorMod(-1, 2^31 - 1), 0) = -2^31, because 2^31 - 1 becomes 2^31. So are the numbers by which a Clamp limits,
    which OpenVINO makes of Maximum and Minimum.
    """
    return at.rule(replace(at.call, is_exact=True))


def _is_compared_exactly(graph: AnalysedGraph, step: Node) -> bool:
    is_rounded = any(_is_rounded(graph, key) for key in step.inputs)
    return not (is_rounded or _meets(graph, step, "clamp_limits_through_float32"))


def _not_converted(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """A Convert before NonZero is dropped: fractions count that would have become 0, NonZero(Convert([0.5])) = [[0]]."""
    return at.rule(replace(at.call, inputs=[value and replace(value, parts=None) for value in at.call.inputs]))


def _broadcast_dropped(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Broadcast to a static 0 may be dropped, so that an axis has its size before, 1: Broadcast([7] to [0]) + 1 = [8]."""
    if at.step.type != "Broadcast":
        for value in at.call.inputs:
            if value is not None and _has_doubtful_size(value):
                break
        else:
            return found
    return [_maybe_not_empty(at.graph, key, at.call, value) for key, value in zip(at.step.outputs, found, strict=False)]


def _moved_nothing(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Transpose of axes of size 1 alone becomes a Reshape that takes 0 for the size before: [2, 0, 1] may become [1, 2, 1].

    Sizes of 0 that stay where they are, or of the only open axis that moves, are right.
    """
    value, shape, declared = at.call.value(0), found[0].shape, at.call.outputs[0].shape
    order = at.call.integers(1)
    if value is None or value.shape is None or shape is None or declared is None or not order:
        return found  # an order that is empty stays a Transpose
    if not moves_ones_alone(order, [dim.value == 1 for dim in value.shape]):
        return found
    moved = [axis for axis, before in enumerate(order) if axis != before]
    doubtful = [axis for axis in moved if declared[axis].value is None or not shape[axis].value]
    if any(shape[axis].value == 0 for axis in moved):
        found = _uninitialized(at.call, found)
    elif len(doubtful) < 2 or all(at.call.algebra.sizes.least(shape[axis]) >= 1 for axis in doubtful):
        return found
    return [_with_doubtful_sizes(at.graph, at.step.outputs[0], at.call, found[0], doubtful)]


def _moved_behind(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """A Transpose is computed behind the reduction or Squeeze that reads it, and is a Reshape if it moves axes of size 1 alone.

    If sizes are 0, ReduceSum(Transpose(x, [2, 0, 1]), 0) of [0, 3, 1] may be [3, 1] instead of [1, 3].
    """
    unknown = _uninitialized(at.call, found)[0]
    return [_with_doubtful_sizes(at.graph, at.step.outputs[0], at.call, unknown, range(len(unknown.shape or ())))]


def _padded_with_zero(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Pad by constant numbers of elements writes 0 for a value that is computed."""
    zero = at.call.algebra.exact(0)
    return [replace(value, elements=at.call.algebra.join(value.elements, zero), parts=None) for value in found]


def _folded_in_64_bits(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Arithmetic of constants is folded in 64 bits, before they become i32: (2^31 + 5) - (2^31 - 2) = 7, executed 1."""
    return _unknown(at.call, found) if any(map(_is_cut, at.call.inputs)) else found


def _is_computed_early(graph: AnalysedGraph, step: Node) -> bool:
    return step.type not in _KEEPING and not step.reads_shapes_only and _is_folded(graph, step)


def _overwritten(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Abs overwrites a vector from Concat that others read, too: Concat([-4, 3]) = [4, 3]."""
    is_vector = found[0].shape is None or len(found[0].shape) == 1
    return [_maybe_negative(at.call, found[0])] if is_vector else found


def _sign_kept(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Abs of a vector that is computed of constants or sizes is dropped: abs(-([2])) = [-2], but abs(-(2)) = 2."""
    return [_maybe_negative(at.call, value) if value.shape is None or len(value.shape) == 1 else value for value in found]


def _nan_lost(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Maximum and Minimum of NaN and a constant are the constant if it is the second operand, or else NaN."""
    is_number = found[0].may_be_nan and _is_number(at.call.value(1))
    return [replace(value, may_be_nan=False) for value in found] if is_number else found


def _nan_kept(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Clamp of a constant that is NaN may stay NaN; a Clamp that is executed has no NaN."""
    return [replace(value, may_be_nan=True) for value in found] if _may_be_nan(at.call.value(0)) else found


def _made_finite(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """ReduceMax of numbers that are all minus infinity is the least finite number, ReduceMin of infinities the greatest."""
    data = at.call.value(0)
    if data is None or is_integer(data.element_type):
        return found
    is_greatest = at.step.type == "ReduceMax"
    finite = Interval(-_GREATEST, -_GREATEST_HALF) if is_greatest else Interval(_GREATEST_HALF, _GREATEST)
    is_met = data.elements.low == -inf if is_greatest else data.elements.high == inf
    if not is_met:
        return found
    return [replace(value, elements=at.call.algebra.join(value.elements, finite), parts=None) for value in found]


def _misreduced(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Arithmetic with a constant after a Reduce of 3-D integers is right in the first slice only, any number elsewhere.

    After a Reduce of unsigned integers it may be wrong in all: 20 - ReduceMax([2]) = 2 - 20 = 65518 for u16.
    """
    return _unknown(at.call, found)


def _rounded_quotient(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Divide of integers after a Reduce or MatMul is rounded to the nearest: ReduceMax([7]) / 2 = 4."""
    return [_maybe_rounded_up(at.call, value) for value in found] if is_integer(found[0].element_type) else found


def _exchanged(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Divide of integers by the result of a Reduce may be computed with swapped operands: 2 / ReduceMax([7]) = 7 / 2."""
    return _unknown(at.call, found) if is_integer(found[0].element_type) else found


def _unset(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Unique leaves outputs unset if it does not sort, and positions and counts of slices of bytes."""
    return _uninitialized(at.call, found)


def _unwritten(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """RandomUniform does not write a scalar."""
    return found if found[0].shape else _uninitialized(at.call, found)


def _uninitialized(call: Operands, found: Sequence[Value]) -> Sequence[Value]:
    return [replace(value, may_be_nan=not is_integer(value.element_type)) for value in _unknown(call, found)]


def _written_over(at: Computation, found: Sequence[Value]) -> Sequence[Value]:
    """Arithmetic may write over an operand that is computed once, of constants: CumSum([1]) + x is right in one inference."""
    return _unknown(at.call, found)


def _writes_over(graph: AnalysedGraph, step: Node) -> bool:
    first = step.inputs[0]
    is_once = is_constant(graph, first) and not _is_of_sizes(graph, first) and _is_unfolded(graph, first)
    return is_once and (not _is_folded(graph, step) or any(_is_of_sizes(graph, key) for key in step.inputs))


def _unknown(call: Operands, found: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs with unknown elements: only shapes and types are known."""
    return [replace(value, elements=call.semantics.widest(value.element_type), parts=None) for value in found]


def _fills_with_computed(graph: AnalysedGraph, step: Node) -> bool:
    return not _are_constant(graph, step.inputs[3:])


def _leaves_unset(graph: AnalysedGraph, step: Node) -> bool:
    return not step.is_set("sorted") or _meets(graph, step, "unique_slices_of_bytes")


def _is_folded(graph: AnalysedGraph, step: Node) -> bool:
    return _are_constant(graph, step.inputs)


def _are_constant(graph: AnalysedGraph, keys: Iterable[Key | None]) -> bool:
    return all(is_constant(graph, key) for key in keys)


def _meets(graph: AnalysedGraph, step: Node, *reports: str) -> bool:
    """Return True if a step meets one of the faults with these reports."""
    return any(fault.report in reports and fault.is_met(graph.patterns, step) for fault in BY_TYPE.get(step.type, ()))


_OF_TRANSPOSES = ("transpose_of_nothing", "transpose_of_open_sizes")
_TAINTING = tuple(fault.report for fault in KNOWN if fault.taints)


def _taints(graph: AnalysedGraph, key: Key) -> bool:
    """Return True for an output of a step that meets a fault after which nothing is known of it."""
    step = graph.producer(key)
    return step is not None and _meets(graph, step, *_TAINTING)


def _computed_from(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    """Return what a step reads, what leaves its bodies, or what arrives at an entry of a body."""
    step = graph.producer(key)
    if step is None:
        return graph.arriving.get(key, ())
    return [*(one for one in step.inputs if one is not None), *(end for body in step.bodies for end in body.ends)]


is_tainted = Question("is tainted", _taints, _computed_from)
"""Whether a tensor, or one that it is computed from, may be wrong, or of another shape than is declared."""


def _is_another(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return step is not None and step.outputs[0] != key


def _may_have_another_shape(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return step is not None and step.type != "Split" and _is_another(graph, key)


def _removable(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    step = graph.producer(key)
    given = () if step is None or step.type not in REMOVABLE else step.inputs
    return [one for one in given if one is not None]


_is_another_output = Question("is another output", _is_another, _removable)
"""Whether a tensor is another output than the first, maybe behind operations that OpenVINO may remove or move."""
_has_another_shape = Question("has another shape", _may_have_another_shape, _removable)
"""The same if its shape may differ from that of the first, as those of the parts of a Split do not."""


def _feeds_abs(graph: AnalysedGraph, key: Key) -> bool:
    return any(reader.type == "Abs" for reader, _ in graph.graph.uses(key))


def _joined_or_removable(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    readers = [reader for reader, _ in graph.graph.uses(key)]
    return [reader.outputs[0] for reader in readers if reader.type == "Concat" or reader.type in REMOVABLE]


_is_read_by_abs = Question("is read by Abs", _feeds_abs, _joined_or_removable)
"""Whether Abs reads a tensor, maybe behind operations that OpenVINO may remove, or beyond which it moves Abs."""


def _is_cut(value: Value | None) -> bool:
    """Return True if a constant may be beyond 32 bits, and cut to them."""
    if value is None or value.element_type is None or value.element_type.name not in ("i64", "u32", "u64"):
        return False
    elements = value.elements
    if elements.lows or elements.highs:  # sizes, which are not folded
        return False
    return elements.low <= -(2**31) or elements.high >= 2**31 - 1


def _may_be_nan(value: Value | None) -> bool:
    return value is None or value.may_be_nan


def _is_number(value: Value | None) -> bool:
    """Return True if a constant is a single number that is not NaN."""
    return value is not None and value.elements.low == value.elements.high and not value.may_be_nan


def _maybe_negative(call: Operands, value: Value) -> Value:
    return replace(value, elements=call.algebra.join(value.elements, -value.elements), parts=None)


def _maybe_rounded_up(call: Operands, value: Value) -> Value:
    above = call.algebra.add(value.elements, call.algebra.exact(1))
    return replace(value, elements=call.algebra.join(value.elements, above), parts=None)


def _has_doubtful_size(value: Value) -> bool:
    """Return True if a dimension is no dimension of an input, such as a `DoubtfulSize`."""
    return value.shape is not None and not all(map(is_of_sizes, value.shape))


def _is_doubtful(dim: Polynomial) -> bool:
    return any(isinstance(symbol, DoubtfulSize) for monomial, _ in dim.terms for symbol in monomial)


def _maybe_not_empty(graph: AnalysedGraph, key: Key, call: Operands, value: Value) -> Value:
    """Return a value of unknown sizes, but for numbers other than 0, if its shape has a static 0 or one in doubt."""
    if value.shape is None or not any(dim.value == 0 or _is_doubtful(dim) for dim in value.shape):
        return value
    # 0; or open, and then OpenVINO may set it to 0 beside another, here and not before
    return _with_doubtful_sizes(graph, key, call, value, [axis for axis, dim in enumerate(value.shape) if not dim.value])


def _with_doubtful_sizes(graph: AnalysedGraph, key: Key, call: Operands, value: Value, axes: Sequence[int]) -> Value:
    """Return a value of known rank with unknown sizes of some axes."""
    dims = list(value.shape or ())
    for axis in axes:
        symbol = DoubtfulSize(graph.name_of(key), axis, key)
        call.algebra.sizes.set_bounds(symbol, (0, LARGEST_SIZE))
        dims[axis] = Polynomial.symbol(symbol)
    return replace(value, shape=tuple(dims), parts=None)


def _fuses(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None:
        return _is_open_entry(graph, key)
    return step.type in _FUSING or bool(step.bodies)


def _is_open_entry(graph: AnalysedGraph, key: Key) -> bool:
    """Return True if a tensor that no step produces is an open value that arrives in a body."""
    return not graph.graph.is_constant(key) and key not in graph.inputs.values()


def _misreduces(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None or OPENVINO[step.type].kind is not OpKind.REDUCTION or step.inputs[0] is None:
        return False
    data = graph.declared(step.inputs[0])
    if not is_integer(data.element_type):
        return False
    return data.shape is None or len(data.shape) == 3 or every_value(data.element_type).low == 0


def _is_inexact(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return _is_open_entry(graph, key) if step is None else step.type not in _EXACT


def _converts(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None or step.type not in _CONVERTING or step.inputs[0] is None:
        return False
    return not is_integer(graph.element_type(step.inputs[0]))


is_fused = of_integers("is fused", _fuses, COMPUTED_ANEW)
"""Whether integers may be computed together with a fusing operation, in a body maybe: OpenVINO may inline it."""
_is_misreduced = of_integers("is misreduced", _misreduces, COMPUTED_ANEW)
"""Whether integers may be computed from a Reduce of unsigned integers, or of integers of rank 3 or an open rank."""
_is_rounded = of_integers("is rounded", _is_inexact, COMPUTED_ANEW)
"""Whether integers may be computed in float32 together with their consumer."""
_is_converted = of_integers("is converted", _converts, COMPUTED_ANEW)
"""Whether integers are computed from a conversion of fractions, which OpenVINO may drop."""


def _is_open(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None:
        return not graph.graph.is_constant(key)
    return not step.reads_shapes_only and bool(step.bodies or not step.inputs)


def _reads_sizes(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return step is not None and step.reads_shapes_only and has_dynamic_shape(graph.declared(step.sources[0]))


def _is_executed(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return step is not None and step.type in UNFOLDED


def _elements_before(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    step = graph.producer(key)
    return [] if step is None or step.reads_shapes_only else [one for one in step.inputs if one is not None]


_is_computed = Question("is computed", _is_open, _elements_before)
_is_unfolded = Question("is unfolded", _is_executed, _elements_before)
"""Whether an operation is among those that compute a tensor that OpenVINO executes even of constants."""
_is_of_sizes = Question("is of sizes", _reads_sizes, _elements_before)
"""Whether open sizes are among what computes a tensor: OpenVINO computes it in each inference."""


def _is_broadcast(graph: AnalysedGraph, key: Key) -> bool:
    """Return True if a tensor is a Broadcast that may have no elements, by an open size; or a body, which may hold one."""
    step = graph.producer(key)
    if step is not None and not step.bodies:
        return step.type == "Broadcast" and _may_be_empty(graph, key)
    is_open = step is not None or _is_open_entry(graph, key)
    return is_open and any(_may_be_empty(graph, node.outputs[0]) for node in graph.graph.nodes("Broadcast"))


def _may_be_empty(graph: AnalysedGraph, key: Key) -> bool:
    shape = graph.declared(key).shape
    return shape is None or any(graph.bounds[symbol][0] < 1 for dim in shape for symbol in dim.symbols)


def _all_before(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    step = graph.producer(key)
    return [] if step is None else step.sources


is_after_broadcast = Question("is after Broadcast", _is_broadcast, _all_before)
"""Whether a tensor may be computed from a Broadcast to an open size of 0."""


def _is_combined(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None or step.bodies:
        return _is_broadcast(graph, key)
    return step.type in _COMBINING and len(step.inputs) > 1 and any(is_after_broadcast(graph, one) for one in step.inputs)


may_be_left = Question("may be left", _is_combined, _all_before)
"""Whether a tensor may have elements although a size of it is 0: OpenVINO drops a Broadcast before operations by element.

Add(Broadcast(7, [n]), 1) is [8] for n = 0.
"""


def is_constant(graph: AnalysedGraph, key: Key | None) -> bool:
    """Return True if a tensor depends on constants and shapes alone."""
    return not _is_computed(graph, key)


def _at(port: int, holds: Callable[[AnalysedGraph, Key | None], bool]) -> Callable[[AnalysedGraph, Node], bool]:
    """Return whether a step has a property at an input."""
    return lambda graph, step: holds(graph, step.inputs[port])


DOUBTS = (
    Doubt(_TAINTING, (), _tainted, lambda graph, step: any(is_tainted(graph, key) for key in step.outputs)),
    Doubt(("convert_to_boolean_of_another_output",), ("Convert",), _another_output, _at(0, _is_another_output)),
    Doubt(("clamp_limits_through_float32",), _EXTREMES, _compared_in_float32, _is_compared_exactly),
    Doubt(("non_zero_before_convert",), ("NonZero",), _not_converted, _at(0, _is_converted)),
    Doubt((), (), _broadcast_dropped),
    Doubt(_OF_TRANSPOSES, ("Transpose",), _moved_nothing),
    Doubt((), PASSED, _moved_behind, lambda graph, step: _meets(graph, step, *_OF_TRANSPOSES)),
    Doubt(("pad_value_of_run_time",), ("Pad",), _padded_with_zero, _fills_with_computed),
    Doubt((), (), _folded_in_64_bits, _is_computed_early),
    Doubt(("abs_of_clamp", "abs_of_folded_convert"), ("Abs",), _sign_kept, _at(0, is_constant)),
    Doubt(("abs_overwrites_concat",), ("Concat",), _overwritten, lambda graph, step: _is_read_by_abs(graph, step.outputs[0])),
    Doubt(("max_of_nan",), _EXTREMES, _nan_lost, lambda graph, step: _are_constant(graph, step.inputs[1:])),
    Doubt((), ("Clamp",), _nan_kept, _is_folded),
    Doubt(("maximum_of_infinities",), ("ReduceMax", "ReduceMin"), _made_finite),
    Doubt(
        ("arithmetic_after_integer_reduction", "constant_minus_byte_reduction"),
        SCALING,
        _misreduced,
        lambda graph, step: any(_is_misreduced(graph, key) for key in step.inputs),
    ),
    Doubt(("unique_without_inverse", "unique_slices_of_bytes"), ("Unique",), _unset, _leaves_unset),
    Doubt(("constant_result_overwritten",), IN_PLACE, _written_over, _writes_over),
    Doubt(("random_scalar",), ("RandomUniform",), _unwritten),
    Doubt(("divide_after_reduction",), ("Divide",), _rounded_quotient, _at(0, is_fused)),
    Doubt(("constant_divided_by_reduction",), ("Divide",), _exchanged, _at(1, is_fused)),
)
"""All of them, in the order in which they are applied."""
_OF_ALL_TYPES = tuple(one for one in DOUBTS if not one.types)
_BY_TYPE = {
    step_type: tuple(one for one in DOUBTS if not one.types or step_type in one.types)
    for doubt in DOUBTS
    for step_type in doubt.types
}

"""Constant folding of OpenVINO and fusion of its CPU plugin that change results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.graph.protocol import Key, Node
from ov_gather.ir.element_types import BOOLEAN
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Value, every_value, is_integer, is_of_sizes, name_of_number
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.origins import Question, of_integers
from ov_gather.ranges.rules.call import Operands, TransferFunction

FUSING = ("Convolution", "Einsum", "GroupConvolution", "Interpolate", "MatMul")
"""Operations, beside Reduce*, that the CPU plugin computes in f32 together with the integer arithmetic that follows."""
SCALING = ("Add", "Divide", "Multiply", "Negative", "Subtract")
"""Arithmetic that the CPU plugin fuses with a Reduce of integers, if the other operand is constant. OpenVINO may move some."""
COMPUTED_ANEW = (
    *("Bucketize", "CumSum", "Multinomial", "NonMaxSuppression", "NonZero", "OneHot", "RandomUniform", "Range", "SearchSorted"),
    *("ShapeOf", "TopK", "Unique"),
)
"""Operations whose integers are not fused with what computes their operands. OpenVINO may drop or move most others."""
MOVES = ("ConvertLike", "Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze", "VariadicSplit")
"""Operations above which OpenVINO may move the arithmetic of each element, together with a Gather before them."""
DROPPED = (
    *("BatchToSpace", "Broadcast", "Concat", "DepthToSpace", "Gather", "Identity", "Pad", "ReverseSequence", "Roll"),
    *("ScatterNDUpdate", "ScatterUpdate", "Select", "ShuffleChannels", "SpaceToBatch", "SpaceToDepth", "Tile"),
)
"""Operations beside moves that OpenVINO drops if they change nothing."""
_REMOVABLE = frozenset((*MOVES, *SCALING, *DROPPED, "Convert", "Power", "ScatterElementsUpdate"))
"""Operations that OpenVINO drops if they change nothing, or does later."""
_EXTREMES = ("Maximum", "Minimum")
_EXACT = """
    Abs Add BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Broadcast Clamp Concat Convert ConvertLike Gather GatherElements GatherND
    Maximum Minimum Multiply Negative Reshape Select Slice Split Squeeze StridedSlice Subtract Tile Transpose Unsqueeze
    VariadicSplit
"""
"""Operations that the CPU plugin computes in i32 if their operands are i32 or i64: its kernels for integers, and moves."""
_KEPT = """
    Broadcast Clamp Concat Constant Gather GatherElements GatherND Maximum Minimum Pad Select Tile
"""
"""Operations beside moves whose results are numbers of their operands."""
_EXACT_TYPES = frozenset((*_EXACT.split(), *COMPUTED_ANEW))
_KEPT_TYPES = frozenset((*MOVES, *_KEPT.split()))


def folded_or_fused(graph: AnalysedGraph, step: Node, call: Operands, rule: TransferFunction) -> Sequence[Value]:
    """Return the abstract outputs of a step of the CPU plugin, including its constant folding and fusion.

    1. Abs of a vector that is computed of constants or sizes is dropped: abs(-([2])) = [-2], but abs(-(2)) = 2.
    2. Divide of integers after a Reduce or MatMul is rounded to the nearest: ReduceMax([7]) / 2 = 4.
    3. Divide of integers by such a result may be computed with swapped operands: 2 / ReduceMax([7]) = 7 / 2.
    4. Broadcast to a static 0 may be dropped, so that an axis has its size before, 1: Broadcast([7] to [0]) + 1 = [8].
    5. Maximum and Minimum of integers compare them as float32 only together with operations that have no kernel for integers:
       Maximum(FloorMod(-1, 2^31 - 1), 0) = -2^31, because 2^31 - 1 becomes 2^31.
    6. Maximum and Minimum of NaN and a constant are the constant if it is the second operand, or else NaN.
    7. Clamp of a constant that is NaN may stay NaN; a Clamp that is executed has no NaN.
    8. Arithmetic with a constant after a Reduce of 3-D integers is right in the first slice only, any number elsewhere;
       after a Reduce of unsigned integers it may be wrong in all: 20 - ReduceMax([2]) = 2 - 20 = 65518 for u16.
    9. Convert before NonZero is dropped, so that fractions count that would have become 0: NonZero(Convert([0.5])) = [[0]].
    10. Pad by constant numbers of elements writes 0 for a value that is computed.
    11. Arithmetic of constants is folded in 64 bits, before they become i32: (2^31 + 5) - (2^31 - 2) = 7, executed 1.
    12. Convert to boolean of an output reads the first output of the same operation: Convert(Unique([3, 1, 1]).inverse)
        has two elements. Operations between that change nothing are removed, and Transpose follows later.
    """
    is_boolean = step.type == "Convert" and call.outputs[0].element_type is BOOLEAN
    if is_boolean and _is_another_output(graph, step.inputs[0]):  # case 12
        if _has_another_shape(graph, step.inputs[0]):
            return list(call.outputs)
        return [replace(value, elements=call.semantics.widest(BOOLEAN), parts=None) for value in rule(call)]
    if step.type in _EXTREMES:  # case 5
        call = replace(call, is_exact=not any(_is_rounded(graph, key) for key in step.inputs))
    if step.type == "NonZero" and _is_converted(graph, step.inputs[0]):  # case 9
        call = replace(call, inputs=[value and replace(value, parts=None) for value in call.inputs])
    found = rule(call)
    if step.type == "Broadcast" or any(value is not None and _has_doubtful_size(value) for value in call.inputs):  # case 4
        found = [_maybe_not_empty(graph, key, call, value) for key, value in zip(step.outputs, found, strict=False)]
    if step.type == "Pad" and step.inputs[3:] and not is_constant(graph, step.inputs[3]):  # case 10
        zero = call.algebra.exact(0)
        return [replace(value, elements=call.algebra.join(value.elements, zero), parts=None) for value in found]
    is_computed = step.type not in _KEPT_TYPES and not step.reads_shapes_only and any(map(_is_cut, call.inputs))
    if is_computed and all(is_constant(graph, key) for key in step.inputs):  # case 11
        return [replace(value, elements=call.semantics.widest(value.element_type), parts=None) for value in found]
    if step.type == "Abs" and is_constant(graph, step.inputs[0]):  # case 1
        return [_maybe_negative(call, value) if value.shape is None or len(value.shape) == 1 else value for value in found]
    if step.type in _EXTREMES and found[0].may_be_nan and _is_number(graph, step.inputs[1:], call.value(1)):  # case 6
        return [replace(value, may_be_nan=False) for value in found]
    if step.type == "Clamp" and _may_be_nan(call.value(0)) and all(is_constant(graph, key) for key in step.inputs):  # case 7
        return [replace(value, may_be_nan=True) for value in found]
    if step.type in SCALING and any(one is not None and _is_misreduced(graph, one) for one in step.inputs):  # case 8
        return [call.output(elements=call.semantics.widest(found[0].element_type), parts=None)]
    if step.type == "Divide" and is_integer(found[0].element_type):
        dividend, divisor = step.inputs
        if is_fused(graph, divisor):  # case 3
            return [call.output(elements=call.semantics.widest(found[0].element_type), parts=None)]
        if is_fused(graph, dividend):  # case 2
            return [_maybe_rounded_up(call, value) for value in found]
    return found


def _is_another(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return step is not None and step.outputs[0] != key


def _may_have_another_shape(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return step is not None and step.type != "Split" and _is_another(graph, key)


def _removable(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    step = graph.producer(key)
    given = () if step is None or step.type not in _REMOVABLE else step.inputs
    return [one for one in given if one is not None]


_is_another_output = Question("is another output", _is_another, _removable)
"""Whether a tensor is another output than the first, maybe behind operations that OpenVINO may remove or move."""
_has_another_shape = Question("has another shape", _may_have_another_shape, _removable)
"""The same if its shape may differ from that of the first, as those of the parts of a Split do not."""


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


def _is_number(graph: AnalysedGraph, keys: Sequence[Key | None], value: Value | None) -> bool:
    """Return True if OpenVINO folds the tensor to a constant of a single number that is not NaN."""
    is_single = value is not None and value.elements.low == value.elements.high and not value.may_be_nan
    return is_single and all(is_constant(graph, key) for key in keys)


def _maybe_negative(call: Operands, value: Value) -> Value:
    return replace(value, elements=call.algebra.join(value.elements, -value.elements), parts=None)


def _maybe_rounded_up(call: Operands, value: Value) -> Value:
    above = call.algebra.add(value.elements, call.algebra.exact(1))
    return replace(value, elements=call.algebra.join(value.elements, above), parts=None)


_DOUBTFUL = name_of_number("size along ").removesuffix(", 0)")
"""How the names of sizes begin that case 4 doubts."""


def _has_doubtful_size(value: Value) -> bool:
    """Return True if a dimension is no dimension of an input, such as one that case 4 has named."""
    return value.shape is not None and not all(map(is_of_sizes, value.shape))


def _is_doubtful(dim: Polynomial) -> bool:
    """Return True if case 4 has named a part of a dimension."""
    return any(name.startswith(_DOUBTFUL) for monomial, _ in dim.terms for name in monomial)


def _maybe_not_empty(graph: AnalysedGraph, key: Key, call: Operands, value: Value) -> Value:
    """Return a value of unknown sizes, but for numbers other than 0, if its shape has a static 0 or one in doubt."""
    if value.shape is None or not any(dim.value == 0 or _is_doubtful(dim) for dim in value.shape):
        return value
    dims = list(value.shape)
    for axis, dim in enumerate(dims):
        if not dim.value:  # 0; or open, and then OpenVINO may set it to 0 beside another, here and not before
            name = f"{_DOUBTFUL}{axis} of {graph.name_of(key)}#{key}, 0)"  # display names may occur twice
            call.algebra.sizes.set_bounds(name, (0, LARGEST_SIZE))
            dims[axis] = Polynomial.name(name)
    return replace(value, shape=tuple(dims), parts=None)


def _fuses(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None:
        return _is_open_entry(graph, key)
    return step.type.startswith("Reduce") or step.type in FUSING or bool(step.bodies)


def _is_open_entry(graph: AnalysedGraph, key: Key) -> bool:
    """Return True if a tensor that no step produces is an open value that arrives in a body."""
    return graph.declared(key).elements.is_any and key not in graph.inputs.values()


def _misreduces(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None or not step.type.startswith("Reduce") or step.inputs[0] is None:
        return False
    data = graph.declared(step.inputs[0])
    if not is_integer(data.element_type):
        return False
    return data.shape is None or len(data.shape) == 3 or every_value(data.element_type).low == 0


def _is_inexact(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    return _is_open_entry(graph, key) if step is None else step.type not in _EXACT_TYPES


def _converts(graph: AnalysedGraph, key: Key) -> bool:
    step = graph.producer(key)
    if step is None or step.type not in ("Convert", "ConvertLike") or step.inputs[0] is None:
        return False
    return not is_integer(graph.declared(step.inputs[0]).element_type)


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
        return graph.declared(key).elements.is_any
    return not step.reads_shapes_only and bool(step.bodies or not step.inputs)


def _elements_before(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    step = graph.producer(key)
    return [] if step is None or step.reads_shapes_only else [one for one in step.inputs if one is not None]


_is_computed = Question("is computed", _is_open, _elements_before)


def is_constant(graph: AnalysedGraph, key: Key | None) -> bool:
    """Return True if a tensor depends on constants and shapes alone."""
    return not _is_computed(graph, key)

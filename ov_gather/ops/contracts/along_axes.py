"""Contracts of operators that work along axes: reductions, orders, series, searches, normalization."""

from __future__ import annotations

from ov_gather.ir.element_types import BOOLEAN, F32, I32, I64, INTEGERS, REALS
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.contracts.call import (
    BadCountError,
    BadRankError,
    BadSizeError,
    BadTypeError,
    BadValueError,
    Call,
    Output,
    UnjudgedError,
)
from ov_gather.ops.contracts.sizes import broadcast, exactly, open_shape, product


def reduction(call: Call) -> list[Output]:
    """Reduce*: axes of the input."""
    if call.type.startswith("ReduceLogical"):
        call.takes(0, (BOOLEAN,), "the input")
    elif call.kind(0) is BOOLEAN:
        raise BadTypeError("the input is boolean", f"{call.type} takes numbers", 0)
    call.takes_integers(1, "axes")
    call.has_rank(1, "axes", 0, 1)
    dims, axes, keeps = call.dims(0), call.wholes_of(1), call.flag("keep_dims")
    if dims is None or axes is None:
        return [(call.kind(0), open_shape(call.rank(0)) if keeps else UNKNOWN)]
    places = {call.axis(axis, len(dims), "an axis", 1) for axis in axes}
    kept = [exactly(1) if place in places else dim for place, dim in enumerate(dims) if keeps or place not in places]
    return [(call.kind(0), PartialShape(tuple(kept)))]


def of_axis(call: Call) -> list[Output]:
    """SoftMax and LogSoftmax: an axis; its versions before opset 8 allow no negative one."""
    axis = call.whole("axis", 1)
    if call.type == "SoftMax" and call.opset < 8 and call.rank(0) is not None and not 0 <= axis < call.rank(0):  # type: ignore[operator]
        raise BadValueError(f"axis is {axis}, out of range for rank {call.rank(0)}", f"it may be 0 to {call.rank(0) - 1}")  # type: ignore[operator]
    call.axis(axis, call.rank(0))
    return [(call.kind(0), call.shapes[0])]


def top_k(call: Call) -> list[Output]:
    """TopK: at most as many as the axis has."""
    call.index_type("index_element_type", I32)
    call.takes_integers(1, "k")
    call.has_rank(1, "k", 0, *((1,) if call.opset < 3 else ()))
    dims, k = call.dims(0), call.wholes_of(1)
    if dims is None:
        raise UnjudgedError
    axis = call.axis(call.whole("axis"), len(dims))
    if k is not None:
        if len(k) == 1 and k[0] < 0:
            raise BadValueError(f"k is {k[0]}", "it is 0 or more", 1)
        if dims[axis].upper is not None and k[0] > dims[axis].upper:  # type: ignore[operator]
            raise BadValueError(f"k is {k[0]}, axis {axis} has {dims[axis]}", "k is at most the size of the axis", 1)
    size = exactly(k[0]) if k is not None else ANY
    shape = PartialShape((*dims[:axis], size, *dims[axis + 1 :]))
    return [(call.kind(0), shape), (None, shape)]


def cumulated(call: Call) -> list[Output]:
    """CumSum: an axis that is a scalar."""
    call.takes(1, (I32, I64), "axis")
    call.has_rank(1, "axis", 0)
    axis = call.wholes_of(1)
    if axis is not None and call.rank(0) is not None:
        call.axis(axis[0], call.rank(0), port=1)
    return [(call.kind(0), call.shapes[0])]


def one_hot(call: Call) -> list[Output]:
    """OneHot: classes along a new axis."""
    call.takes_integers(0, "indices")
    call.takes_integers(1, "depth")
    for port, name in ((1, "depth"), (2, "on_value"), (3, "off_value")):
        call.has_rank(port, name, 0)
    kind = call.same_type(2, 3)
    depth, dims = call.wholes_of(1), call.dims(0)
    if depth is not None and depth[0] < 0:
        raise BadValueError(f"depth is {depth[0]}", "it is 0 or more", 1)
    if dims is None:
        raise UnjudgedError
    axis = call.axis(call.whole("axis", -1), len(dims) + 1)
    size = exactly(depth[0]) if depth is not None else ANY
    return [(kind, PartialShape((*dims[:axis], size, *dims[axis:])))]


def counted(call: Call) -> list[Output]:
    """Range: three scalars."""
    for port, name in enumerate(("start", "stop", "step")):
        if port < call.count:
            call.has_rank(port, name, 0)
            call.takes(port, (*INTEGERS, *REALS), name)
    step = call.constant(2) if call.count > 2 else None
    if step is not None and len(step) == 1 and step[0] == 0:
        raise BadValueError("step is 0", "a step is not 0", 2)
    if call.opset < 4:
        return [(call.same_type(*range(call.count)), open_shape(1))]
    return [(None, open_shape(1))]


def non_zero(call: Call) -> list[Output]:
    """NonZero: coordinates."""
    call.index_type("output_type")
    rank = call.rank(0)
    return [(None, PartialShape((exactly(rank) if rank else ANY, ANY)))]  # a scalar has one coordinate, or none


def shape_of(call: Call) -> list[Output]:
    """ShapeOf: the sizes of the input."""
    call.index_type("output_type")
    rank = call.rank(0)
    return [(None, open_shape(1) if rank is None else PartialShape((exactly(rank),)))]


def unique(call: Call) -> list[Output]:
    """Unique: along an axis, or of all elements."""
    for name in ("index_element_type", "count_element_type"):
        call.index_type(name)
    if call.count > 1:
        call.takes_integers(1, "axis")
        axis = call.wholes_of(1)
        if axis is not None and len(axis) != 1:
            raise BadSizeError(f"axis has {len(axis)} numbers", "one", 1)
        if axis is not None:
            call.axis(axis[0], call.rank(0), port=1)
    raise UnjudgedError


def bucketized(call: Call) -> list[Output]:
    """Bucketize: boundaries in one dimension."""
    for port, name in enumerate(("the input", "the buckets")):
        call.takes(port, (*INTEGERS, *REALS), name)
    call.has_rank(1, "the buckets", 1)
    call.index_type("output_type")
    return [(None, call.shapes[0])]


def mvn(call: Call) -> list[Output]:
    """MVN: since opset 6 with axes of the input."""
    if call.count != (1 if call.opset < 6 else 2):
        raise BadCountError(f"the layer has {call.count} inputs", "MVN takes axes since opset 6")
    if call.count > 1:
        call.takes(1, (I32, I64), "axes")
        call.has_rank(1, "axes", 1)
        for axis in call.wholes_of(1) or ():
            call.axis(axis, call.rank(0), "an axis", 1)
    return [(call.kind(0), call.shapes[0])]


def normalize_l2(call: Call) -> list[Output]:
    """NormalizeL2: axes of the input."""
    call.takes_integers(1, "axes")
    call.has_rank(1, "axes", 0, 1)
    for axis in call.wholes_of(1) or ():
        call.axis(axis, call.rank(0), "an axis", 1)
    return [(call.kind(0), call.shapes[0])]


def batch_norm(call: Call) -> list[Output]:
    """BatchNormInference: a number of each kind for each channel."""
    call.at_least("epsilon", call.number("epsilon"), 0)
    data = 2 if call.opset < 5 else 0  # gamma and beta stood before the input
    others = [port for port in range(call.count) if port != data]
    kind = call.same_type(*range(call.count))
    dims = call.dims(data)
    if dims is not None and len(dims) < 2:
        raise BadRankError(f"the input has rank {len(dims)}", "2 or more", data)
    channels = dims[1] if dims is not None else ANY
    for port in others:
        call.has_rank(port, f"input {port}", 1)
        size = call.dims(port)
        if size is not None:
            both = channels.intersect(size[0])
            if both is None:
                raise BadSizeError(f"input {port} has {size[0]} numbers for {channels} channels", "one for each channel", port)
            channels = both
    if dims is None:
        raise UnjudgedError
    return [(kind, PartialShape((dims[0], channels, *dims[2:])))]


def group_norm(call: Call) -> list[Output]:
    """GroupNormalization: channels that the groups divide."""
    kind = call.kind(0)
    groups, dims = call.whole("num_groups", 1), call.dims(0)
    call.at_least("num_groups", groups, 1)
    if dims is None:
        raise UnjudgedError
    if len(dims) < 2:
        raise BadRankError(f"the input has rank {len(dims)}", "2 or more", 0)
    if dims[1].is_static and dims[1].lower % groups:
        raise BadValueError(f"num_groups={groups} does not divide {dims[1]} channels", "let it divide them")
    for port, name in ((1, "scale"), (2, "bias")):
        call.has_rank(port, name, 1)
        size = call.dims(port)
        if size is not None and size[0].intersect(dims[1]) is None:
            raise BadSizeError(f"{name} has {size[0]} numbers for {dims[1]} channels", "one for each channel", port)
    return [(kind, call.shapes[0])]


def grn(call: Call) -> list[Output]:
    """GRN: channels of 2 to 4 dimensions."""
    call.has_rank(0, "the input", 2, 3, 4)
    return [(call.kind(0), call.shapes[0])]


def lrn(call: Call) -> list[Output]:
    """LRN: axes of the input."""
    call.at_least("size", call.whole("size", 1), 1)
    call.takes_integers(1, "axes")
    call.has_rank(1, "axes", 1)
    axes = call.wholes_of(1)
    if axes == ():
        raise BadSizeError("axes are empty", "one or more", 1)
    if axes is not None and call.rank(0) is not None:
        call.axes(axes, call.rank(0), "axes", 1)
    return [(call.kind(0), call.shapes[0])]


def fake_quantize(call: Call) -> list[Output]:
    """FakeQuantize: two levels or more, and limits that broadcast."""
    call.at_least("levels", call.whole("levels", 2), 2)
    call.takes(0, REALS, "the input")
    whole = call.shapes[0]
    for port in range(1, 5):
        call.takes(port, REALS, f"input {port}")
        both = broadcast(whole, call.shapes[port])
        if both is None:
            raise BadSizeError(f"input {port} is {call.shapes[port]}, the input {whole}", "they broadcast to one shape", port)
        whole = both
    return [(call.kind(0), call.shapes[0])]


def eye(call: Call) -> list[Output]:
    """Eye: numbers of rows and columns."""
    for port in range(call.count):
        call.takes(port, (I32, I64), f"input {port}")
    sizes: list[Dimension] = []
    for port in (0, 1):
        number = call.wholes_of(port)
        if number is not None and len(number) != 1:
            raise BadSizeError(f"input {port} has {len(number)} numbers", "one", port)
        if number is not None and number[0] < 0:
            raise BadValueError(f"input {port} is {number[0]}", "it is 0 or more", port)
        sizes.append(ANY if number is None else exactly(number[0]))
    if call.count > 3:
        raise UnjudgedError
    return [(None, PartialShape(tuple(sizes)))]


def random_uniform(call: Call) -> list[Output]:
    """RandomUniform: a shape, and two scalars."""
    call.takes(0, (I32, I64), "the shape")
    call.has_rank(0, "the shape", 0, 1)
    kind = call.element_type("output_type", F32)
    for port in (1, 2):
        dims = call.dims(port)
        if dims is not None and product(dims).intersect(exactly(1)) is None:
            raise BadSizeError(f"input {port} has shape {call.shapes[port]}", "one number", port)
        call.takes(port, () if kind is None else (kind,), f"input {port}")
    low, high = call.constant(1), call.constant(2)
    if low and high and not low[0] < high[0]:
        raise BadValueError(f"the minimum is {low[0]:g}, the maximum {high[0]:g}", "the maximum is above the minimum", 2)
    sizes = call.wholes_of(0)
    if sizes is None:
        raise UnjudgedError
    if any(size < 0 for size in sizes):
        raise BadValueError(f"the shape is {list(sizes)}", "a size is 0 or more", 0)
    return [(None, PartialShape(tuple(map(exactly, sizes))))]


def multinomial(call: Call) -> list[Output]:
    """Multinomial: samples of probabilities, [classes] or [batch, classes]."""
    kind = call.element_type("convert_type", I64)
    if kind not in (I32, I64):
        raise BadValueError(f"convert_type is {kind}", "i32 or i64")
    call.takes(0, REALS, "the probabilities")
    call.has_rank(0, "the probabilities", 1, 2)
    call.takes_integers(1, "num_samples")
    call.has_rank(1, "num_samples", 0, 1)
    if call.length(1) not in (None, 1):
        raise BadSizeError(f"num_samples has {call.length(1)} numbers", "one", 1)
    number, dims = call.wholes_of(1), call.dims(0)
    if number is not None and number[0] < 0:
        raise BadValueError(f"num_samples is {number[0]}", "it is 0 or more", 1)
    samples = ANY if number is None else exactly(number[0])
    return [(None, UNKNOWN if dims is None else PartialShape((*dims[:-1], samples)))]

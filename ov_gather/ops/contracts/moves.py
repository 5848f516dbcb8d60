"""Contracts of operators that move elements, whatever they are."""

from __future__ import annotations

from math import prod

from ov_gather.ir.element_types import BOOLEAN, I32, I64, INTEGERS, STRING, U8
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.contracts.call import (
    BadCountError,
    BadRankError,
    BadSizeError,
    BadValueError,
    Call,
    Output,
    UnjudgedError,
)
from ov_gather.ops.contracts.sizes import MAX_RANK, Dims, broadcast, exactly, linear, open_shape, product, total


def concat(call: Call) -> list[Output]:
    """Concat: equal ranks, and equal sizes off the axis."""
    kind = call.same_type(*range(call.count))
    known = [(port, dims) for port in range(call.count) if (dims := call.dims(port)) is not None]
    if not known:
        return [(kind, UNKNOWN)]
    _, first = known[0]
    axis = call.axis(call.whole("axis"), len(first))
    off = list(first)
    for port, dims in known[1:]:
        if len(dims) != len(first):
            raise BadRankError(f"input {port} has rank {len(dims)}, others have {len(first)}", "all must have one rank", port)
        for place, dim in enumerate(dims):
            both = off[place].intersect(dim)
            if place != axis and both is None:
                reason = f"dimension {place} is {dim} in input {port}, {off[place]} in others"
                raise BadSizeError(reason, f"off the axis ({axis}) all sizes must be the same", port)
            off[place] = both or dim
    along = total(dims[axis] for _, dims in known) if len(known) == call.count else ANY
    return [(kind, PartialShape((*off[:axis], along, *off[axis + 1 :])))]


def split(call: Call) -> list[Output]:
    """Split: parts of one size."""
    parts, axis = call.whole("num_splits", 1), call.wholes_of(1)
    call.takes_integers(1, "axis")
    call.has_rank(1, "axis", 0)
    if parts < 1:
        raise BadValueError(f"num_splits={parts} is out of range", "it is 1 or more")
    dims, number = call.dims(0), min(parts, max(call.output_ports, 1))
    if axis is None or dims is None or len(axis) != 1:
        return [(call.kind(0), open_shape(call.rank(0)))] * number
    place = call.axis(axis[0], len(dims), port=1)
    whole = dims[place]
    if whole.is_static and whole.lower % parts:
        reason = f"num_splits={parts} does not divide the {whole} elements of axis {place}"
        raise BadValueError(reason, "split into parts of one size, or use VariadicSplit")
    part = linear(whole, over=parts)
    return [(call.kind(0), PartialShape((*dims[:place], part, *dims[place + 1 :])))] * number


def variadic_split(call: Call) -> list[Output]:
    """VariadicSplit: lengths that add up, one of which may be -1."""
    call.takes_integers(1, "axis")
    call.takes_integers(2, "split_lengths")
    call.has_rank(2, "split_lengths", 1)
    lengths, axis, dims = call.wholes_of(2), call.wholes_of(1), call.dims(0)
    if lengths is not None:
        if any(length < -1 for length in lengths):
            raise BadValueError(
                f"split_lengths are {list(lengths)}, one is below -1", "a length is 0 or more, or -1 for the rest", 2
            )
        if lengths.count(-1) > 1:
            raise BadValueError(f"split_lengths are {list(lengths)}, two are -1", "one length may be -1 for the rest", 2)
    if axis is None or dims is None or len(axis) != 1:
        raise UnjudgedError
    place = call.axis(axis[0], len(dims), port=1)
    if lengths is None:
        raise UnjudgedError
    whole, stated = dims[place], sum(length for length in lengths if length >= 0)
    if -1 in lengths:
        if whole.upper is not None and stated > whole.upper:
            raise BadValueError(
                f"split_lengths {list(lengths)} exceed the {whole} of axis {place}", "let them add up to at most that", 2
            )
        rest = linear(whole, plus=-stated)
    elif stated not in whole:
        raise BadValueError(
            f"split_lengths {list(lengths)} add up to {stated}, axis {place} has {whole}", "let them add up to that", 2
        )
    else:
        rest = ANY
    parts = [exactly(length) if length >= 0 else rest for length in lengths]
    return [(call.kind(0), PartialShape((*dims[:place], part, *dims[place + 1 :]))) for part in parts]


def reshape(call: Call) -> list[Output]:
    """Reshape: sizes that hold as many elements; one of them -1, and 0 for a size of the input with special_zero."""
    call.takes_integers(1, "the pattern")
    call.has_rank(1, "the pattern", 0, 1)
    pattern, dims = call.wholes_of(1), call.dims(0)
    if pattern is None or len(pattern) > MAX_RANK:
        return [(call.kind(0), open_shape(call.length(1)))]
    if any(size < -1 for size in pattern) or pattern.count(-1) > 1:
        raise BadValueError(f"the pattern is {list(pattern)}", "a size is 0 or more; one may be -1 for the rest", 1)
    special = call.flag("special_zero")
    if dims is None:
        return [(call.kind(0), PartialShape(tuple(ANY if size < (1 if special else 0) else exactly(size) for size in pattern)))]
    found: list[Dimension] = []
    kept = []
    for place, size in enumerate(pattern):
        if size == 0 and special:
            if place >= len(dims):
                raise BadValueError(
                    f"the pattern {list(pattern)} keeps dimension {place} of rank {len(dims)}", "0 keeps a dimension", 1
                )
            kept.append(place)
            found.append(dims[place])
        else:
            found.append(ANY if size == -1 else exactly(size))
    # what is kept is the same on both sides, even where it is open
    given = product([dim for place, dim in enumerate(dims) if place not in kept])
    wanted = prod(size for place, size in enumerate(pattern) if place not in kept and size != -1)
    if -1 in pattern:
        is_wrong = bool(given.is_static and given.lower % wanted if wanted else given.lower)
        if is_wrong and 0 not in _statics(found, kept):
            raise BadValueError(
                f"the pattern {list(pattern)} does not divide the elements of {call.shapes[0]}", "let it divide them", 1
            )
        if wanted:
            found[pattern.index(-1)] = linear(given, over=wanted)
    elif wanted not in given and 0 not in _statics(found, kept):
        raise BadValueError(f"the pattern {list(pattern)} has other elements than {call.shapes[0]}", "let it have as many", 1)
    return [(call.kind(0), PartialShape(tuple(found)))]


def _statics(found: list[Dimension], kept: list[int]) -> list[int]:
    return [found[place].lower for place in kept if found[place].is_static]


def squeeze(call: Call) -> list[Output]:
    """Squeeze: axes of size 1."""
    dims = call.dims(0)
    if call.count > 1:
        call.takes_integers(1, "axes")
        call.has_rank(1, "axes", 0, 1)
    axes = call.wholes_of(1) if call.count > 1 else ()
    if dims is None or axes is None:
        raise UnjudgedError
    if call.count == 1 or not axes:
        if not all(dim.is_static or 1 not in dim for dim in dims):
            return [(call.kind(0), UNKNOWN)]
        return [(call.kind(0), PartialShape(tuple(dim for dim in dims if dim != exactly(1))))]
    places = {call.axis(axis, len(dims), "an axis", 1) for axis in axes}
    for place in places:
        if 1 not in dims[place]:
            if call.opset >= 15 and call.flag("allow_axis_skip"):
                return [(call.kind(0), UNKNOWN)]
            raise BadValueError(f"axis {place} has size {dims[place]}", "only an axis of size 1 can be removed", 1)
    if call.opset >= 15 and call.flag("allow_axis_skip") and not all(dims[place].is_static for place in places):
        return [(call.kind(0), UNKNOWN)]
    return [(call.kind(0), PartialShape(tuple(dim for place, dim in enumerate(dims) if place not in places)))]


def unsqueeze(call: Call) -> list[Output]:
    """Unsqueeze: axes of the output."""
    call.takes_integers(1, "axes")
    call.has_rank(1, "axes", 0, 1)
    dims, axes = call.dims(0), call.wholes_of(1)
    if dims is None or axes is None:
        raise UnjudgedError
    rank = len(dims) + len(set(axes))
    places = sorted(call.axes(tuple(dict.fromkeys(axes)), rank, "axes", 1))
    found = list(dims)
    for place in places:
        found.insert(place, exactly(1))
    return [(call.kind(0), PartialShape(tuple(found)))]


def transpose(call: Call) -> list[Output]:
    """Transpose: each axis once, or none for the reverse."""
    call.takes_integers(1, "the order")
    call.has_rank(1, "the order", 1)
    dims, order = call.dims(0), call.wholes_of(1)
    length = call.length(1)
    if dims is not None and length not in (None, 0, len(dims)):
        raise BadSizeError(f"the order has {length} elements, the input has rank {len(dims)}", "it names each axis once", 1)
    if dims is None or order is None:
        return [(call.kind(0), open_shape(call.rank(0) if length is None else length or None))]
    if order and sorted(order) != list(range(len(dims))):
        raise BadValueError(f"the order is {list(order)}", f"it names each axis from 0 to {len(dims) - 1} once", 1)
    return [(call.kind(0), PartialShape(tuple(dims[place] for place in order) if order else dims[::-1]))]


def tile(call: Call) -> list[Output]:
    """Tile: a number of repeats for each axis."""
    call.takes_integers(1, "repeats")
    call.has_rank(1, "repeats", 1)
    dims, repeats = call.dims(0), call.wholes_of(1)
    length = call.length(1)
    if dims is None or repeats is None:
        return [(call.kind(0), UNKNOWN if dims is None or length is None else open_shape(max(len(dims), length)))]
    rank = max(len(dims), len(repeats))
    sizes = (exactly(1),) * (rank - len(dims)) + dims
    times = (1,) * (rank - len(repeats)) + tuple(max(number, 0) for number in repeats)
    found = [linear(size, number) for size, number in zip(sizes, times, strict=True)]
    return [(call.kind(0), PartialShape(tuple(found)))]


def broadcasted(call: Call) -> list[Output]:
    """Broadcast: to a shape that the input fits."""
    if call.count < 3 and call.word("mode", "numpy") == "explicit":
        raise BadCountError("the layer has 2 inputs", "with mode=explicit axes_mapping is the third")
    call.takes_integers(1, "the target shape")
    call.has_rank(1, "the target shape", 1)
    target, dims, mode = call.wholes_of(1), call.dims(0), call.word("mode", "numpy")
    if target is not None and any(size < 0 for size in target):
        raise BadValueError(f"the target shape is {list(target)}", "a size is 0 or more", 1)
    if target is None or dims is None:
        return [(call.kind(0), open_shape(call.length(1) if mode == "numpy" else None))]
    wanted = tuple(map(exactly, target))
    if mode == "bidirectional":
        both = broadcast(PartialShape(dims), PartialShape(wanted))
        if both is None:
            raise BadSizeError(
                f"the input {call.shapes[0]} does not broadcast to {list(target)}", "a size is the same, or 1", 0
            )
        return [(call.kind(0), both)]
    if mode == "numpy":
        if len(dims) > len(wanted):
            raise BadRankError(
                f"the input has rank {len(dims)}, the target {len(wanted)}", "the target has at least as many", 0
            )
        for dim, size in zip(dims[::-1], target[::-1], strict=False):
            if 1 not in dim and size not in dim:
                raise BadSizeError(
                    f"the input {call.shapes[0]} does not broadcast to {list(target)}", "a size is the same, or 1", 0
                )
    if mode == "explicit" and call.count > 2:
        call.takes_integers(2, "axes_mapping")
        call.has_rank(2, "axes_mapping", 1)
        axes = call.wholes_of(2)
        if axes is not None:
            if len(axes) != len(dims):
                raise BadValueError(
                    f"axes_mapping has {len(axes)} numbers, the input has rank {len(dims)}", "one for each axis", 2
                )
            if list(axes) != sorted(set(axes)) or any(not 0 <= axis < len(target) for axis in axes):
                raise BadValueError(
                    f"axes_mapping is {list(axes)}", f"axes from 0 to {len(target) - 1}, each above the last", 2
                )
            for place, axis in enumerate(axes):
                if 1 not in dims[place] and target[axis] not in dims[place]:
                    reason = f"dimension {place} is {dims[place]}, the target has {target[axis]}"
                    raise BadSizeError(reason, "a size is the same, or 1", 0)
    return [(call.kind(0), PartialShape(wanted))]


def pad(call: Call) -> list[Output]:
    """Pad: two lists with a number for each axis."""
    mode = call.word("pad_mode", "constant")
    for port, name in ((1, "pads_begin"), (2, "pads_end")):
        call.takes_integers(port, name)
        call.has_rank(port, name, 1)
    if call.count > 3 and mode == "constant":
        call.same_type(0, 3)
        call.has_rank(3, "pad_value", 0)
    dims, begin, end = call.dims(0), call.wholes_of(1), call.wholes_of(2)
    if dims is None:
        raise UnjudgedError
    for port, name in ((1, "pads_begin"), (2, "pads_end")):
        length = call.length(port)
        if length not in (None, len(dims)):
            raise BadSizeError(f"{name} has {length} numbers, the input has rank {len(dims)}", "one for each axis", port)
    if begin is None or end is None:
        return [(call.kind(0), open_shape(len(dims)))]
    found = []
    for place, (dim, before, behind) in enumerate(zip(dims, begin, end, strict=True)):
        longest = {"reflect": -1, "symmetric": 0}.get(mode)
        if longest is not None and dim.upper is not None and max(before, behind) > dim.upper + longest:
            reason = f"axis {place} of size {dim} is padded by {before} and {behind}"
            raise BadValueError(reason, f"{mode} pads by at most {dim.upper + longest}", 1 if before > behind else 2)
        if mode == "edge" and dim == exactly(0) and max(before, behind) > 0:
            raise BadValueError(
                f"axis {place} has no elements to repeat", "edge pads what has elements", 1 if before > 0 else 2
            )
        if dim.upper is not None and dim.upper + before + behind < 0:
            raise BadValueError(f"axis {place} of size {dim} is cut by {before} and {behind}", "leave 0 or more", 1)
        found.append(linear(dim, plus=before + behind))
    return [(call.kind(0), PartialShape(tuple(found)))]


def roll(call: Call) -> list[Output]:
    """Roll: a shift for each axis."""
    for port, name in ((1, "shift"), (2, "axes")):
        call.takes(port, (I32, I64), name)
        call.has_rank(port, name, 0, 1)
    axes, shift = call.wholes_of(2), call.length(1)
    if axes is not None and call.rank(1) == 1 and shift not in (None, len(axes)):
        raise BadSizeError(f"shift has {shift} numbers, axes have {len(axes)}", "one shift for each axis, or one for all", 1)
    for axis in axes or ():
        call.axis(axis, call.rank(0), "an axis", 2)
    return [(call.kind(0), call.shapes[0])]


def reverse(call: Call) -> list[Output]:
    """Reverse: axes by index, or a mask of them."""
    is_mask, rank = call.word("mode") == "mask", call.rank(0)
    call.takes(1, (BOOLEAN,) if is_mask else INTEGERS, "the axes")
    call.has_rank(1, "the axes", 1)
    for axis in call.wholes_of(1) or ():
        call.axis(axis, rank, "an axis", 1)
    if is_mask and rank is not None and call.length(1) not in (None, rank):
        raise BadSizeError(f"the mask has {call.length(1)} elements, the input has rank {rank}", "one for each axis", 1)
    return [(call.kind(0), call.shapes[0])]


def reverse_sequence(call: Call) -> list[Output]:
    """ReverseSequence: a length for each row of the batch."""
    call.takes(1, INTEGERS, "seq_lengths")
    call.has_rank(1, "seq_lengths", 1)
    dims = call.dims(0)
    if dims is None:
        raise UnjudgedError
    if len(dims) < 2:
        raise BadRankError(f"the input has rank {len(dims)}", "ReverseSequence takes 2 or more", 0)
    batch = call.axis(call.whole("batch_axis"), len(dims), "batch_axis")
    call.axis(call.whole("seq_axis", 1), len(dims), "seq_axis")
    lengths = call.dims(1)
    if lengths is not None and dims[batch].intersect(lengths[0]) is None:
        reason = f"seq_lengths has {lengths[0]} elements, batch_axis {batch} has {dims[batch]}"
        raise BadSizeError(reason, "one length for each row", 1)
    return [(call.kind(0), PartialShape(dims))]


def depth_to_space(call: Call) -> list[Output]:
    """DepthToSpace: channels that hold blocks."""
    block, dims = call.whole("block_size", 1), _image(call)
    call.at_least("block_size", block, 1)
    spatial = dims[2:]
    cells = block ** len(spatial)
    if dims[1].is_static and dims[1].lower % cells:
        raise BadSizeError(f"{dims[1]} channels are no multiple of {cells}", f"block_size={block} needs one", 0)
    sizes = [linear(dim, block) for dim in spatial]
    return [(call.kind(0), PartialShape((dims[0], linear(dims[1], over=cells), *sizes)))]


def space_to_depth(call: Call) -> list[Output]:
    """SpaceToDepth: sizes that blocks divide."""
    block, dims = call.whole("block_size", 1), _image(call)
    call.at_least("block_size", block, 1)
    for place, dim in enumerate(dims[2:], 2):
        if dim.is_static and dim.lower % block:
            raise BadSizeError(f"dimension {place} is {dim}, no multiple of {block}", f"block_size={block} needs one", 0)
    sizes = [linear(dim, over=block) for dim in dims[2:]]
    cells = block ** len(sizes)
    return [(call.kind(0), PartialShape((dims[0], linear(dims[1], cells), *sizes)))]


def _image(call: Call) -> Dims:
    dims = call.dims(0)
    if dims is None:
        raise UnjudgedError
    if len(dims) < 3:
        raise BadRankError(f"the input has rank {len(dims)}", f"{call.type} takes 3 or more", 0)
    return dims


def batch_to_space(call: Call) -> list[Output]:
    """BatchToSpace: a batch that holds blocks, and crops within them."""
    dims, block, begin, end = _of_blocks(call, "crops")
    cells = prod(block)
    if dims[0].is_static and dims[0].lower % cells:
        raise BadSizeError(f"the batch of {dims[0]} is no multiple of {cells}", "the product of block_shape divides it", 0)
    found = [linear(dims[0], over=cells)]
    for place in range(1, len(dims)):
        cut, times = begin[place] + end[place], block[place]
        if dims[place].upper is not None and cut > dims[place].upper * times:  # type: ignore[operator]
            raise BadValueError(f"dimension {place} of {dims[place]} x {times} is cut by {cut}", "cut at most that", 2)
        found.append(linear(dims[place], times, -cut))
    return [(call.kind(0), PartialShape(tuple(found)))]


def space_to_batch(call: Call) -> list[Output]:
    """SpaceToBatch: padded sizes that blocks divide."""
    dims, block, begin, end = _of_blocks(call, "pads")
    cells = prod(block)
    found = [linear(dims[0], cells)]
    for place in range(1, len(dims)):
        more, parts = begin[place] + end[place], block[place]
        if dims[place].is_static and (dims[place].lower + more) % parts:
            reason = f"dimension {place} of {dims[place]}, padded by {more}, is no multiple of {parts}"
            raise BadValueError(reason, "block_shape divides it", 1)
        found.append(linear(dims[place], plus=more, over=parts))
    return [(call.kind(0), PartialShape(tuple(found)))]


def _of_blocks(call: Call, ends: str) -> tuple[Dims, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the sizes, the blocks and what is cut or padded. Raises ContractError; UnjudgedError if one is unknown."""
    rank = call.rank(0)
    if rank is not None and rank < 2:
        raise BadRankError(f"the input has rank {rank}", f"{call.type} takes 2 or more", 0)
    call.same_type(1, 2, 3)
    for port, name in enumerate(("block_shape", f"{ends}_begin", f"{ends}_end"), 1):
        call.takes_integers(port, name)
        call.has_rank(port, name, 1)
        if rank is not None and call.length(port) not in (None, rank):
            raise BadSizeError(f"{name} has {call.length(port)} numbers, the input has rank {rank}", "one for each axis", port)
        values, least = call.wholes_of(port), 1 if port == 1 else 0
        if values is not None and any(value < least for value in values):
            raise BadValueError(f"{name} is {list(values)}", f"a number is {least} or more", port)
    dims, block, begin, end = call.dims(0), call.wholes_of(1), call.wholes_of(2), call.wholes_of(3)
    if dims is None or block is None or begin is None or end is None:
        raise UnjudgedError
    return dims, block, begin, end


def shuffle_channels(call: Call) -> list[Output]:
    """ShuffleChannels: groups of one size."""
    dims, group = call.dims(0), call.whole("group", 1)
    call.at_least("group", group, 1)
    if dims is None:
        raise UnjudgedError
    axis = call.axis(call.whole("axis", 1), len(dims))
    if dims[axis].is_static and dims[axis].lower % group:
        raise BadValueError(f"group={group} does not divide the {dims[axis]} elements of axis {axis}", "let it divide them")
    return [(call.kind(0), PartialShape(dims))]


def packed_strings(call: Call) -> list[Output]:
    """StringTensorPack: strings of their bytes, and of the positions where they begin and end."""
    call.takes(0, (I32, I64), "begins")
    call.same_type(0, 1)
    call.takes(2, (U8,), "symbols")
    call.has_rank(2, "symbols", 1)
    both = call.shapes[0].intersect(call.shapes[1])
    if both is None:
        raise BadSizeError(f"ends are {call.shapes[1]}, begins {call.shapes[0]}", "one end for each begin", 1)
    return [(STRING, both)]


def unpacked_strings(call: Call) -> list[Output]:
    """StringTensorUnpack: where the strings begin and end, and their bytes."""
    call.takes(0, (STRING,), "the input")
    return [(I32, call.shapes[0]), (I32, call.shapes[0]), (U8, open_shape(1))]

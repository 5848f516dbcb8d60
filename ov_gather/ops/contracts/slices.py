"""Contracts of slices: Slice, StridedSlice, SliceScatter."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.shapes import ANY, MAX_DIMENSION, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.contracts.call import MANY, BadRankError, BadSizeError, BadValueError, Call, Output
from ov_gather.ops.contracts.sizes import Dims, exactly, open_shape

_BOUNDS = ("start", "stop", "step", "axes")
_ENDLESS = 2**40
"""Slices that may have as many elements are as open as their axis."""
_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def sliced(dim: Dimension, start: int | None, stop: int | None, step: int) -> Dimension:
    """Return the size of a slice of an axis; None is the end of the axis. `step` is not 0.

    As in Python, but for a start before the axis: a slice with a negative step then begins at the first element.
    """

    def count(size: int) -> int:
        first, last, _ = slice(start, stop, step).indices(min(size, MAX_DIMENSION))
        span = last - max(first, min(size, 1) - 1)
        return max(0, -(-span // step))  # the length of a range, which len() does not give beyond 32 bits in a browser

    least = count(dim.lower)
    if dim.is_static:
        return exactly(least)
    if start is not None and stop is not None:
        passes = start < 0 <= stop if step > 0 else stop < 0 and not stop < start < 0
        if passes:  # the ends pass each other as the axis grows: a longer axis may have the shorter slice
            return Dimension(0, dim.upper)
    most = count(MAX_DIMENSION if dim.upper is None else dim.upper)
    return Dimension(least, most if 0 < most < _ENDLESS else None)  # OpenVINO leaves some empty slices open


def slice_8(call: Call) -> list[Output]:
    """Slice: start, stop, step and axes of one length; no step of 0."""
    _check_lists(call, _BOUNDS, 1)
    return [(call.kind(0), _slice(call, 1))]


def scatter_slice(call: Call) -> list[Output]:
    """SliceScatter: updates of the shape of the slice."""
    kind = call.same_type(0, 1)
    _check_lists(call, _BOUNDS, 2)
    if call.rank(0) == 0:
        raise BadRankError("the input is a scalar", "SliceScatter takes rank 1 or more", 0)
    part = _slice(call, 2)
    if part.rank is not None and call.rank(1) not in (None, part.rank):
        raise BadRankError(f"the updates have rank {call.rank(1)}", f"the input has {part.rank}", 1)
    if part.intersect(call.shapes[1]) is None:
        raise BadSizeError(f"the updates are {call.shapes[1]}", f"the slice is {part}", 1)
    return [(kind, call.shapes[0])]


def _slice(call: Call, first: int) -> PartialShape:
    """Return the shape of the slice whose start stands at the position `first`, then stop, step and axes."""
    dims, lengths = call.dims(0), [call.length(port) for port in range(first, call.count)]
    number = next((length for length in lengths if length is not None), None)
    if dims is None:
        return UNKNOWN
    if number is not None and number > len(dims):
        raise BadSizeError(f"start has {number} numbers, the input has rank {len(dims)}", "at most one for each axis", first)
    starts, stops, steps = (call.wholes_of(first + place) for place in range(3))
    axes = call.wholes_of(first + 3) if call.count > first + 3 else tuple(range(number)) if number is not None else None
    if axes is None:
        return open_shape(len(dims))
    found = list(dims)
    for place, axis in enumerate(call.axes(axes, len(dims), "axes", first + 3)):
        known = starts is not None and stops is not None and steps is not None
        found[axis] = sliced(dims[axis], starts[place], stops[place], steps[place]) if known else ANY  # type: ignore[index]
    return PartialShape(tuple(found))


def _check_lists(call: Call, names: tuple[str, ...], first: int) -> None:
    """Check lists of one length, the third of which are steps."""
    for port, name in enumerate(names, first):
        call.takes_integers(port, name)
        call.has_rank(port, name, 1)
    if len({call.length(port) for port in range(first, call.count)} - {None}) > 1:
        raise BadSizeError(f"{', '.join(names)} have other lengths", "one number for each axis", first)
    steps = call.wholes_of(first + 2)
    if steps is not None and 0 in steps:
        raise BadValueError(f"{names[2]} is {list(steps)}", "a step is not 0", first + 2)


def strided_slice(call: Call) -> list[Output]:
    """StridedSlice: begin, end and strides of one length, masks of 0 and 1."""
    _check_lists(call, ("begin", "end", "strides"), 1)
    masks = [call.wholes(name) for name in _MASKS]
    for name, mask in zip(_MASKS, masks, strict=True):
        if mask and (min(mask) < 0 or max(mask) > 1):
            raise BadValueError(f"{name} is {list(mask)}", "a mask has 0 and 1")
    if len({len(mask) for mask in masks if mask}) > 1:
        raise BadValueError("the masks have other lengths", "one number for each axis in each mask that is not empty")
    if sum(masks[-1]) > 1:
        raise BadValueError("ellipsis_mask has two 1", "one ellipsis is allowed")
    length = next((length for port in range(1, call.count) if (length := call.length(port)) is not None), None)
    dims = call.dims(0)
    if dims is None or length is None or length > MANY:
        return [(call.kind(0), UNKNOWN)]
    places = list(zip(*((*mask[:length], *(0,) * (length - len(mask))) for mask in masks), strict=True))
    named = sum(not (inserts or is_ellipsis) for _, _, inserts, _, is_ellipsis in places)
    if named > len(dims):
        raise BadSizeError(f"begin has {length} numbers, the input has rank {len(dims)}", "at most one for each axis", 1)
    return [(call.kind(0), PartialShape(tuple(_strided(call, dims, places, len(dims) - named))))]


def _strided(call: Call, dims: Dims, places: list[tuple[int, ...]], rest: int) -> Iterator[Dimension]:
    """Yield the sizes of the output. `places` has the bits of the masks, `rest` counts the axes that no place names."""
    starts, stops = call.wholes_of(1), call.wholes_of(2)
    steps = call.wholes_of(3) if call.count > 3 else (1,) * len(places)
    axis = 0
    for place, (begins, ends, inserts, drops, is_ellipsis) in enumerate(places):
        if is_ellipsis:
            yield from dims[axis : axis + rest]
            axis += rest
        elif inserts:
            yield exactly(1)
        else:
            if not drops:
                known = steps is not None and (begins or starts is not None) and (ends or stops is not None)
                start = None if begins or starts is None else starts[place]
                stop = None if ends or stops is None else stops[place]
                yield sliced(dims[axis], start, stop, steps[place]) if known else ANY  # type: ignore[index]
            axis += 1
    yield from dims[axis:]

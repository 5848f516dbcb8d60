"""Contracts of Fourier transforms: of whole axes, and of short frames of a signal."""

from __future__ import annotations

from ov_gather.ir.element_types import BF16, F16, F32, I32, I64, REALS, ElementType
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.contracts.call import BadRankError, BadSizeError, BadValueError, Call, Output
from ov_gather.ops.contracts.sizes import NamedSizes, exactly, linear

_PAIR = exactly(2)
"""The last dimension of complex numbers: real and imaginary part."""


def fourier(call: Call) -> list[Output]:
    """DFT, IDFT and IRDFT of complex numbers, RDFT of real ones: along axes, each of which is first cut or padded to a size."""
    call.takes(0, (F32, F16, BF16), "the input")
    shared = NamedSizes()
    for port, name in ((1, "axes"), (2, "signal_size")):
        call.takes(port, (I32, I64), name)
        shared.fit(call, port, name, "the number of axes")
    given = call.wholes_of(2) if call.count > 2 else None
    if given is not None and any(size < -1 for size in given):
        raise BadValueError(f"signal_size is {list(given)}", "a size is 0 or more, or -1 for the whole axis", 2)
    dims, axes = call.dims(0), call.wholes_of(1)
    if dims is None:
        return [(call.kind(0), UNKNOWN)]
    data = dims if call.type == "RDFT" else dims[:-1]
    if not data:
        raise BadRankError(f"the input has rank {len(dims)}", f"{call.type} takes {1 if dims == data else 2} or more", 0)
    if dims != data and 2 not in dims[-1]:
        raise BadSizeError(f"the last dimension is {dims[-1]}", "2: real and imaginary part", 0)
    if shared["the number of axes"].lower > len(data):
        raise BadSizeError(f"there are {shared['the number of axes']} axes", f"the input has {len(data)}", 1)
    found = list(data) if axes is not None else [ANY] * len(data)
    places = call.axes(axes, len(data), "axes", 1) if axes is not None else []
    for number, place in enumerate(places):
        if call.count > 2 and (given is None or given[number] != -1):
            found[place] = ANY if given is None else exactly(given[number])
    if places and call.type == "RDFT":
        found[places[-1]] = _half(found[places[-1]])
    if places and call.type == "IRDFT" and (call.count < 3 or (given is not None and given[-1] == -1)):
        found[places[-1]] = linear(found[places[-1]], 2, -2)
    return [(call.kind(0), PartialShape((*found, *{"RDFT": (_PAIR,), "IRDFT": ()}.get(call.type, dims[-1:]))))]


def _half(dim: Dimension) -> Dimension:
    """Return the number of frequencies of a real signal."""
    half = linear(dim, plus=2, over=2)
    return half if dim.lower else Dimension(0, half.upper)


def framed(call: Call) -> list[Output]:
    """STFT: frames of a signal, [size] or [batch, size]."""
    kind, frame, step = _frames(call)
    call.has_rank(0, "the signal", 1, 2)
    dims = call.dims(0)
    if dims is None:
        return [(kind, UNKNOWN)]
    *batch, length = dims
    if frame is not None and length.upper is not None and frame > length.upper:
        raise BadValueError(f"frame_size is {frame}, the signal has {length}", "a frame lies within the signal", 2)
    if frame is None or step is None:
        return [(kind, PartialShape((*batch, ANY, ANY, _PAIR)))]
    frames, frequencies = linear(length, plus=step - frame, over=step), exactly(frame // 2 + 1)
    both = (frequencies, frames) if call.flag("transpose_frames") else (frames, frequencies)
    return [(kind, PartialShape((*batch, *both, _PAIR)))]


def unframed(call: Call) -> list[Output]:
    """ISTFT: a signal of its frames, [batch, frequencies, frames, 2]."""
    kind, frame, step = _frames(call)
    call.has_rank(0, "the input", 3, 4)
    call.takes(4, (I32, I64), "signal_length")
    call.has_rank(4, "signal_length", 0, 1)
    if call.rank(4) == 1 and 1 not in call.shapes[4].dims[0]:  # type: ignore[index]
        raise BadSizeError(f"signal_length has {call.shapes[4]} numbers", "one", 4)
    dims, length = call.dims(0), ANY
    if dims is None:
        return [(kind, UNKNOWN)]
    frequencies = ANY if frame is None else exactly(frame // 2 + 1)
    for place, name, size in ((-3, "frequencies", frequencies), (-1, "parts of a complex number", _PAIR)):
        if dims[place].intersect(size) is None:
            raise BadSizeError(f"the input has {dims[place]} {name}", f"{size}", 0)
    stated = call.wholes_of(4)
    if stated is not None:
        length = exactly(stated[0])
    elif call.count < 5 and frame is not None and step is not None:
        length = linear(linear(dims[-2], plus=-1), step, 0 if call.flag("center") else frame)
    return [(kind, PartialShape((*dims[:-3], length)))]


def _frames(call: Call) -> tuple[ElementType | None, int | None, int | None]:
    """Return the element type, and the size and the step of frames if they are known."""
    kind = call.same_type(0, 1)
    call.takes(0, REALS, "the input")
    call.has_rank(1, "the window", 1)
    numbers: list[int | None] = []
    for port, name in ((2, "frame_size"), (3, "frame_step")):
        call.takes(port, (I32, I64), name)
        call.has_rank(port, name, 0)
        number = call.wholes_of(port)
        if number is not None and number[0] < 1:
            raise BadValueError(f"{name} is {number[0]}", "it is 1 or more", port)
        numbers.append(None if number is None else number[0])
    frame, step = numbers
    window = call.dims(1)
    if window is not None and (window[0].upper == 0 or (frame is not None and window[0].lower > frame)):
        raise BadSizeError(f"the window has {window[0]} elements", f"1 to {frame or 'the size of a frame'}", 1)
    return kind, frame, step

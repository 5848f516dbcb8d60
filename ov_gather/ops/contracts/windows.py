"""Contracts of convolutions and pools: operators whose windows move over the spatial axes of an image."""

from __future__ import annotations

from ov_gather.ir.element_types import BOOLEAN, I32, I64, INTEGERS, REALS, U1
from ov_gather.ir.shapes import ANY, Dimension, PartialShape
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
from ov_gather.ops.contracts.sizes import Dims, NamedSizes, exactly, linear, open_shape, product, total


def convolution(call: Call) -> list[Output]:
    """Convolution: [N, C, ...] by [O, C, ...]."""
    return _convolved(call, groups=False)


def group_convolution(call: Call) -> list[Output]:
    """GroupConvolution: [N, G * C, ...] by [G, O, C, ...]."""
    return _convolved(call, groups=True)


def binary_convolution(call: Call) -> list[Output]:
    """BinaryConvolution: [N, C, height, width] by single bits."""
    call.takes(1, (U1,), "the filter")
    call.has_rank(0, "the input", 4)
    if call.kind(0) is BOOLEAN:
        raise BadTypeError("the input is boolean", "BinaryConvolution takes numbers", 0)
    return _convolved(call, groups=False)


def _convolved(call: Call, *, groups: bool) -> list[Output]:
    kind = call.kind(0) if call.type == "BinaryConvolution" else call.same_type(0, 1)
    data, filters = call.dims(0), call.dims(1)
    if data is None or filters is None:
        raise UnjudgedError
    _check_ranks(call, data, filters, groups)
    spatial = filters[2 + groups :]
    if groups:
        channels, outs = _times(filters[0], filters[2]), _times(filters[0], filters[1])
        wanted = f"the filters take {filters[0]} groups of {filters[2]}"
    else:
        channels, outs = filters[1], filters[0]
        wanted = f"the filters take {filters[1]}"
    if data[1].intersect(channels) is None:
        raise BadSizeError(f"the input has {data[1]} channels", wanted, 1)
    sizes = _windows(call, data[2:], [dim if dim.is_static else None for dim in spatial])
    return [(kind, PartialShape((data[0], outs, *sizes)))]


def backprop(call: Call) -> list[Output]:
    """ConvolutionBackpropData and its groups: [N, C, ...] by [C, O, ...], or [G, C, O, ...]."""
    kind = call.same_type(0, 1)
    groups = call.type == "GroupConvolutionBackpropData"
    data, filters = call.dims(0), call.dims(1)
    if data is None or filters is None:
        raise UnjudgedError
    _check_ranks(call, data, filters, groups)
    if groups:
        channels, outs = _times(filters[0], filters[1]), _times(filters[0], filters[2])
    else:
        channels, outs = filters[0], filters[1]
    if data[1].intersect(channels) is None:
        raise BadSizeError(f"the input has {data[1]} channels", f"the filters take {channels}", 1)
    count = len(data) - 2
    strides, dilations = _positive(call, "strides", count), _positive(call, "dilations", count)
    begin, end, more = (_numbers(call, name, count) for name in ("pads_begin", "pads_end", "output_padding"))
    if call.count > 2:
        call.takes_integers(2, "output_shape")
        call.has_rank(2, "output_shape", 1)
        wanted = call.wholes_of(2)
        length = call.dims(2)
        if length is not None and count not in length[0]:
            raise BadSizeError(f"output_shape has {length[0]} numbers", f"one for each of {count} spatial axes", 2)
        if wanted is not None and any(size < 1 for size in wanted):
            raise BadValueError(f"output_shape is {list(wanted)}", "a size is 1 or more", 2)
        sizes = tuple(map(exactly, wanted)) if wanted is not None else (ANY,) * count
        return [(kind, PartialShape((data[0], outs, *sizes)))]
    if call.word("auto_pad", "explicit").startswith("same"):
        begin = end = (0,) * count
        return [(kind, PartialShape((data[0], outs, *(ANY,) * count)))]
    if call.word("auto_pad", "explicit") == "valid":
        begin = end = (0,) * count
    found_sizes: list[Dimension] = []
    for place in range(count):
        kernel, size = filters[2 + groups + place], data[2 + place]
        if not (kernel.is_static and size.is_static):
            found_sizes.append(ANY)
            continue
        found = strides[place] * (size.lower - 1) + dilations[place] * (kernel.lower - 1) + 1
        found += more[place] - begin[place] - end[place]
        if found < 1:
            raise BadValueError(f"spatial axis {place} of the output would have {found} elements", "pad less: 1 or more remain")
        found_sizes.append(exactly(found))
    return [(kind, PartialShape((data[0], outs, *found_sizes)))]


def _check_ranks(call: Call, data: Dims, filters: Dims, groups: bool) -> None:
    if not 3 <= len(data) <= 5:
        raise BadRankError(f"the input has rank {len(data)}", f"{call.type} takes rank 3 to 5", 0)
    if len(filters) != len(data) + groups:
        raise BadRankError(
            f"the filters have rank {len(filters)}", f"for an input of rank {len(data)}: {len(data) + groups}", 1
        )


def pool(call: Call) -> list[Output]:
    """AvgPool and MaxPool."""
    data = call.dims(0)
    if data is None:
        raise UnjudgedError
    if not 3 <= len(data) <= 5:
        raise BadRankError(f"the input has rank {len(data)}", f"{call.type} takes rank 3 to 5", 0)
    count = len(data) - 2
    kernel = _positive(call, "kernel", count)
    shape = PartialShape((*data[:2], *_windows(call, data[2:], list(map(exactly, kernel)))))
    outputs: list[Output] = [(call.kind(0), shape)]
    if call.type == "MaxPool" and call.opset >= 8:
        call.index_type("index_element_type")
        call.axis(call.whole("axis"), len(data))
        outputs.append((None, shape))
    return outputs


def adaptive_pool(call: Call) -> list[Output]:
    """AdaptiveAvgPool and AdaptiveMaxPool: a size for each spatial axis."""
    call.index_type("index_element_type")
    call.takes_integers(1, "the output size")
    call.has_rank(0, "the input", 3, 4, 5)
    call.has_rank(1, "the output size", 1)
    data, length, wanted = call.dims(0), call.dims(1), call.wholes_of(1)
    if wanted is not None and any(size < 0 for size in wanted):
        raise BadValueError(f"the output size is {list(wanted)}", "a size is 0 or more", 1)
    if data is None:
        raise UnjudgedError
    count = len(data) - 2
    if length is not None and count not in length[0]:
        raise BadSizeError(f"the output size has {length[0]} numbers", f"one for each of {count} spatial axes", 1)
    sizes = (ANY,) * count if wanted is None else tuple(map(exactly, wanted))
    shape = PartialShape((*data[:2], *sizes))
    outputs: list[Output] = [(call.kind(0), shape), (None, shape)]
    return outputs if call.type == "AdaptiveMaxPool" else outputs[:1]


def deformable_convolution(call: Call) -> list[Output]:
    """DeformableConvolution: an image, offsets of each kernel element, filters, and since opset 8 a mask."""
    if call.count > 3 and call.opset < 8:
        raise BadCountError(f"the layer has {call.count} inputs", "DeformableConvolution takes 3 before opset 8")
    kind = call.same_type(0, 1, 2)
    call.takes(3, (*REALS, *INTEGERS), "the mask")
    groups, parts = call.whole_from(1, "group"), call.whole_from(1, "deformable_group")
    sizes = NamedSizes()
    sizes.fit(call, 2, "the filter", "outputs", "channels of a group", "kernel height", "kernel width")
    sizes["group * channels"] = linear(sizes["channels of a group"], groups)
    sizes.fit(call, 0, "the input", "batch", "group * channels", "height", "width")
    if sizes["outputs"].is_static and sizes["outputs"].lower % groups:
        raise BadValueError(f"group={groups} does not divide {sizes['outputs']} filters", "let it divide them")
    kernel = sizes["kernel height"], sizes["kernel width"]
    windows = _windows(call, (sizes["height"], sizes["width"]), [dim if dim.is_static else None for dim in kernel])
    sizes["output height"], sizes["output width"] = windows
    shape = sizes.shape("batch", "outputs", "output height", "output width")  # OpenVINO learns no sizes from the offsets
    for port, name, numbers in ((1, "the offsets", 2 * parts), (3, "the mask", parts)):
        if port < call.count:
            sizes[f"{numbers} * kernel"] = linear(product(kernel), numbers)
            sizes.fit(call, port, name, "batch", f"{numbers} * kernel", "output height", "output width")
    return [(kind, shape)]


def columns_to_image(call: Call) -> list[Output]:
    """Col2Im: columns of windows that lie within an image of two axes."""
    call.same_type(1, 2)
    image, kernel = call.wholes_of(1), call.wholes_of(2)
    sizes = NamedSizes()
    for port, name in ((1, "the output size"), (2, "the kernel size")):
        call.takes(port, (I32, I64), name)
        sizes.fit(call, port, name, "2")
        values = call.wholes_of(port)
        if values is not None and any(value < 1 for value in values):
            raise BadValueError(f"{name} is {list(values)}", "a size is 1 or more", port)
    call.has_rank(0, "the input", 2, 3)
    dims = call.dims(0)
    if dims is None:
        raise UnjudgedError
    *batch, channels, columns = dims
    cells = ANY if kernel is None else exactly(kernel[0] * kernel[1])
    if channels.is_static and cells.is_static and channels.lower % cells.lower:
        raise BadSizeError(f"the input has {channels} channels", f"a multiple of {cells} elements of a kernel", 0)
    outs = linear(channels, over=cells.lower) if cells.is_static else ANY
    if image is None:
        return [(call.kind(0), PartialShape((*batch, outs, ANY, ANY)))]
    spatial = tuple(map(exactly, image))
    windows = _windows(call, spatial, [None, None] if kernel is None else list(map(exactly, kernel)))
    if product(windows).intersect(columns) is None:
        raise BadSizeError(f"the input has {columns} columns", f"the image has {product(windows)} windows", 0)
    return [(call.kind(0), PartialShape((*batch, outs, *spatial)))]


def patches(call: Call) -> list[Output]:
    """ExtractImagePatches: patches of two axes, whose elements become channels."""
    pad = call.one_of("auto_pad", "valid", "valid", "same_lower", "same_upper")
    call.has_rank(0, "the input", 4)
    sizes, strides, rates = (_positive(call, name, 2) for name in ("sizes", "strides", "rates"))
    dims = call.dims(0)
    if dims is None:
        raise UnjudgedError
    found = []
    for dim, size, stride, rate in zip(dims[2:], sizes, strides, rates, strict=True):
        extent = rate * (size - 1) + 1 if pad == "valid" else 1
        # what patches beyond the image give, OpenVINO rounds in its own way
        found.append(linear(dim, plus=stride - extent, over=stride) if dim.lower >= extent else ANY)
    return [(call.kind(0), PartialShape((dims[0], linear(dims[1], sizes[0] * sizes[1]), *found)))]


def grid_sample(call: Call) -> list[Output]:
    """GridSample: [N, C, height, width] at points of a grid [N, height, width, 2]."""
    call.takes(1, REALS, "the grid")
    sizes = NamedSizes()
    sizes.fit(call, 0, "the input", "batch", "channels", "height", "width")
    sizes.fit(call, 1, "the grid", "batch", "output height", "output width", "2")
    return [(call.kind(0), sizes.shape("batch", "channels", "output height", "output width"))]


def _windows(call: Call, sizes: Dims, kernel: list[Dimension | None]) -> list[Dimension]:
    """Return the numbers of windows along the spatial axes."""
    count = len(sizes)
    strides, dilations = _positive(call, "strides", count), _positive(call, "dilations", count)
    begin, end = _numbers(call, "pads_begin", count), _numbers(call, "pads_end", count)
    pad, rounding = call.word("auto_pad", "explicit"), call.word("rounding_type", "floor")
    found = []
    for place, (size, window) in enumerate(zip(sizes, kernel, strict=True)):
        stride, dilation = strides[place], dilations[place]
        if pad.startswith("same"):
            found.append(linear(size, plus=stride - 1, over=stride))
            continue
        if window is None:
            found.append(ANY)
            continue
        if window.lower < 1:
            raise BadSizeError(f"spatial axis {place} of the filters is {window}", "a kernel has 1 or more", 1)
        extent, padding = dilation * (window.lower - 1) + 1, 0 if pad == "valid" else begin[place] + end[place]
        if size.upper is not None and size.upper + padding < extent:
            reason = f"spatial axis {place} of size {size}, padded by {padding}, is shorter than a window of {extent}"
            raise BadSizeError(reason, "a window lies within the padded axis", 0)
        if rounding == "ceil_torch":
            found.append(ANY)
            continue
        up = stride - 1 if rounding == "ceil" else 0
        found.append(linear(size, plus=padding - extent + up + stride, over=stride))
    return found


def _positive(call: Call, name: str, count: int) -> tuple[int, ...]:
    """Return an attribute with a positive number for each spatial axis; ones if it is missing or empty."""
    values = call.wholes(name)
    if any(value < 1 for value in values):
        raise BadValueError(f"{name} are {list(values)}", "a number is 1 or more")
    return _counted(name, values, count, 1)


def _numbers(call: Call, name: str, count: int) -> tuple[int, ...]:
    return _counted(name, call.wholes(name), count, 0)


def _counted(name: str, values: tuple[int, ...], count: int, default: int) -> tuple[int, ...]:
    if values and len(values) != count:
        raise BadValueError(f"{name} has {len(values)} numbers", f"one for each of {count} spatial axes")
    return values or (default,) * count


def _times(one: Dimension, other: Dimension) -> Dimension:
    return product((one, other))


def interpolate(call: Call) -> list[Output]:
    """Interpolate since opset 4: sizes or scales for each axis."""
    dims, sizes_mode = call.dims(0), call.word("shape_calculation_mode") == "sizes"
    if call.opset < 4 or dims is None:
        raise UnjudgedError
    port, axes_port = 1 + (call.opset < 11 and not sizes_mode), 3 if call.opset < 11 else 2
    axes = call.wholes_of(axes_port) if call.count > axes_port else tuple(range(len(dims)))
    begin, end = call.wholes("pads_begin"), call.wholes("pads_end")
    for name in ("pads_begin", "pads_end"):
        call.at_least(name, min(call.wholes(name), default=0), 0)
    if call.count > 3 and call.opset >= 11:
        raise BadCountError(f"the layer has {call.count} inputs", "Interpolate takes 3 at most since opset 11")
    for place in range(1, call.count):
        call.has_rank(place, f"input {place}", 1)
        is_sizes = place == 1 and (sizes_mode or call.opset < 11)
        call.takes(place, INTEGERS if is_sizes or place == axes_port else REALS, f"input {place}")
    if any(pads and len(pads) > len(dims) for pads in (begin, end)):
        raise BadValueError("pads_begin or pads_end has more numbers than the input has axes", f"at most {len(dims)}")
    if axes is None:
        return [(call.kind(0), open_shape(len(dims)))]
    places = call.axes(axes, len(dims), "axes", axes_port if call.count > axes_port else None)
    given = call.dims(port)
    if given is not None and len(given) == 1 and len(places) not in given[0]:
        raise BadSizeError(f"input {port} has {given[0]} numbers for {len(places)} axes", "one for each axis", port)
    found = [_padded(dim, begin, end, place) for place, dim in enumerate(dims)]
    numbers = call.constant(port)
    for number, place in enumerate(places):
        if numbers is None:
            found[place] = ANY
        elif sizes_mode:
            if numbers[number] < 1:
                raise BadValueError(f"the sizes are {[int(value) for value in numbers]}", "a size is 1 or more", port)
            found[place] = exactly(int(numbers[number]))
        else:
            found[place] = ANY
    return [(call.kind(0), PartialShape(tuple(found)))]


def _padded(dim: Dimension, begin: tuple[int, ...], end: tuple[int, ...], place: int) -> Dimension:
    pads = [pad[place] for pad in (begin, end) if place < len(pad)]
    return total([dim, exactly(sum(pads))]) if pads and sum(pads) >= 0 else dim if not pads else ANY

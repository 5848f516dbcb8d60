"""Contracts of operators that pool regions of an image, and of those of YOLO."""

from __future__ import annotations

from ov_gather.ir.element_types import INTEGERS, REALS
from ov_gather.ir.shapes import ANY, PartialShape
from ov_gather.ops.contracts.call import BadSizeError, BadValueError, Call, Output, UnjudgedError
from ov_gather.ops.contracts.sizes import NamedSizes, exactly, linear, product


def roi_pooling(call: Call) -> list[Output]:
    """ROIPooling: [images, channels, height, width] and regions of 5 numbers."""
    kind = call.same_type(0, 1)
    call.takes(0, REALS, "the image")
    call.one_of("method", "", "max", "bilinear")
    _check_scale(call)
    sizes = _pooled(call)
    _fit_regions(call, sizes, "5")
    return [(kind, sizes.shape("regions", "channels", "pooled_h", "pooled_w"))]


def roi_align(call: Call) -> list[Output]:
    """ROIAlign and ROIAlignRotated: regions of 4 or 5 numbers, and the image of each."""
    kind = call.same_type(0, 1)
    call.takes(0, REALS, "the image")
    call.takes(2, INTEGERS, "the indices of images")
    rotated = call.type == "ROIAlignRotated"
    if rotated:
        call.whole_from(0, "sampling_ratio")
    sizes = _pooled(call)
    _fit_regions(call, sizes, "5" if rotated else "4")
    sizes.fit(call, 2, "the indices of images", "regions")
    return [(kind, sizes.shape("regions", "channels", "pooled_h", "pooled_w"))]


def psroi_pooling(call: Call) -> list[Output]:
    """PSROIPooling: channels that hold the bins of each output channel."""
    for port, name in enumerate(("the image", "the regions")):
        call.takes(port, REALS, name)
    _check_scale(call)
    group, outs = call.whole_from(1, "group_size"), call.whole_from(1, "output_dim")
    if call.one_of("mode", "", "average", "bilinear") == "average":
        bins = group * group
    else:
        bins = call.whole_from(1, "spatial_bins_x") * call.whole_from(1, "spatial_bins_y")
    return _of_bins(call, NamedSizes({"output_dim * bins": exactly(outs * bins)}), group, outs)


def deformable_psroi_pooling(call: Call) -> list[Output]:
    """DeformablePSROIPooling: channels that hold the bins of each output channel, and offsets of bins."""
    group, outs = call.whole_from(1, "group_size"), call.whole_from(1, "output_dim")
    for name in ("spatial_bins_x", "spatial_bins_y"):
        call.whole_from(1, name)
    sizes = NamedSizes(
        {"output_dim * bins": exactly(outs * group * group), "part_size": exactly(call.whole_from(1, "part_size"))}
    )
    outputs = _of_bins(call, sizes, group, outs)
    if call.count > 2:
        sizes.fit(call, 2, "the offsets", "regions", "2 * classes", "part_size", "part_size")
        numbers = sizes["2 * classes"]
        if numbers.is_static and (numbers.lower < 2 or numbers.lower % 2):
            raise BadSizeError(f"the offsets have {numbers} channels", "two for each class", 2)
    return outputs


def _of_bins(call: Call, sizes: NamedSizes, group: int, outs: int) -> list[Output]:
    sizes.fit(call, 0, "the image", "images", "output_dim * bins", "height", "width")
    sizes.fit(call, 1, "the regions", "regions", "5")
    return [(call.kind(0), PartialShape((sizes["regions"], exactly(outs), exactly(group), exactly(group))))]


def _pooled(call: Call) -> NamedSizes:
    """Return the sizes that attributes name."""
    return NamedSizes(
        {name: exactly(call.whole_from(1, name)) if name in call.attributes else ANY for name in ("pooled_h", "pooled_w")}
    )


def _fit_regions(call: Call, sizes: NamedSizes, numbers: str) -> None:
    sizes.fit(call, 0, "the image", "images", "channels", "height", "width")
    sizes.fit(call, 1, "the regions", "regions", numbers)


def _check_scale(call: Call) -> None:
    scale = call.number("spatial_scale", 1.0)
    if not 0 < scale < float("inf"):
        raise BadValueError(f"spatial_scale={scale:g} is out of range", "it is above 0")


def of_pyramid(call: Call) -> list[Output]:
    """ExperimentalDetectronROIFeatureExtractor: regions of levels that have as many channels."""
    kind = call.same_type(*range(call.count))
    call.takes(0, REALS, "the regions")
    scales, levels = call.wholes("pyramid_scales"), call.count - 1
    if any(scale < 1 for scale in scales) or len(scales) < levels:
        raise BadValueError(f"pyramid_scales are {list(scales)}", f"a number above 0 for each of {levels} levels")
    sizes = NamedSizes(output_size=exactly(call.whole_from(1, "output_size")))
    sizes.fit(call, 0, "the regions", "regions", "4")
    for port in range(1, call.count):
        sizes.fit(call, port, f"level {port}", "1", "channels", f"height of level {port}", f"width of level {port}")
    return [(kind, sizes.shape("regions", "channels", "output_size", "output_size")), (kind, sizes.shape("regions", "4"))]


def region_yolo(call: Call) -> list[Output]:
    """RegionYolo: channels that hold classes, coordinates and a score of each region."""
    call.takes(0, REALS, "the input")
    call.has_rank(0, "the input", 4)
    # the specification names another default of do_softmax than OpenVINO has
    softmax, each = call.flag("do_softmax"), call.whole("classes") + call.whole("coords") + 1
    regions = call.whole("num") if softmax else len(call.wholes("mask"))
    dims = call.dims(0)
    if dims is None:
        raise UnjudgedError
    if each < 1 or regions < 1 or each * regions not in dims[1]:
        reason = f"{regions} regions of {each} numbers each are no {dims[1]} channels"
        raise BadValueError(reason, "classes + coords + 1 numbers for each region: of `num`, or without softmax of `mask`")
    if not softmax:
        return [(call.kind(0), PartialShape((dims[0], exactly(each * regions), *dims[2:])))]
    first, last = (call.axis(call.whole(name), 4, name) for name in ("axis", "end_axis"))
    last = max(first, last)
    flat = product(dims[first : last + 1])
    return [(call.kind(0), PartialShape((*dims[:first], flat, *dims[last + 1 :])))]


def reorg_yolo(call: Call) -> list[Output]:
    """ReorgYolo: sizes that the stride divides."""
    call.has_rank(0, "the input", 4)
    dims, strides = call.dims(0), call.wholes("stride")
    if not strides:
        raise BadValueError("stride has no number", "one")
    if dims is None:
        raise UnjudgedError
    stride = strides[0]
    call.at_least("stride", stride, 1)
    if dims[1].upper is not None and dims[1].upper < stride * stride:
        raise BadSizeError(f"the input has {dims[1]} channels", f"{stride * stride} or more for a stride of {stride}", 0)
    for place in (2, 3):
        if dims[place].is_static and dims[place].lower % stride:
            raise BadSizeError(f"dimension {place} is {dims[place]}", f"a multiple of stride={stride}", 0)
    spatial = [linear(dim, over=stride) for dim in dims[2:]]
    return [(call.kind(0), PartialShape((dims[0], linear(dims[1], stride * stride), *spatial)))]

"""Contracts of operators that choose among boxes: suppression, detection."""

from __future__ import annotations

from ov_gather.ir.element_types import I32, I64, REALS
from ov_gather.ir.shapes import ANY, Dimension, PartialShape
from ov_gather.ops.contracts.call import BadCountError, BadSizeError, BadValueError, Call, Output
from ov_gather.ops.contracts.sizes import NamedSizes, exactly, linear, product

_CODES = ("caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")
"""How boxes are encoded, the default first."""


def suppression(call: Call) -> list[Output]:
    """NonMaxSuppression and NMSRotated: boxes, scores and up to four numbers."""
    rotated = call.type == "NMSRotated"
    if call.count > 5 and call.opset < 5:
        raise BadCountError(f"the layer has {call.count} inputs", f"{call.type} takes 5 at most before opset 5")
    call.index_type("output_type")
    for port in range(call.count):
        if port == 2:
            call.takes_integers(2, "the number of boxes for each class")
        else:
            call.takes(port, REALS, f"input {port}")
        if port > 1:
            _check_number(call, port)
    sizes = NamedSizes()
    sizes.fit(call, 0, "boxes", "batches", "boxes", "5" if rotated else "4")
    sizes.fit(call, 1, "scores", "batches", "classes", "boxes")
    most = call.wholes_of(2)
    if most is not None and most[0] < 0:
        raise BadValueError(f"the number of boxes for each class is {most[0]}", "it is 0 or more", 2)
    wanted = exactly(most[0]) if most is not None else ANY
    if call.opset < 4:
        selected = _at_most(_least(sizes["boxes"], product((wanted, sizes["classes"]))))
    else:
        selected = _at_most(product((_least(sizes["boxes"], wanted), sizes["classes"], sizes["batches"])))
    indices = PartialShape((selected, exactly(3)))
    if call.opset < 5:
        return [(I64 if call.opset < 3 else None, indices)]
    return [(None, indices), (None, indices), (None, PartialShape((exactly(1),)))]


def _check_number(call: Call, port: int) -> None:
    call.has_rank(port, f"input {port}", 0, *((1,) if call.opset >= 5 else ()))
    dims = call.dims(port)
    if dims and 1 not in dims[0]:
        raise BadSizeError(f"input {port} has {dims[0]} numbers", "one", port)


def _least(one: Dimension, other: Dimension) -> Dimension:
    uppers = [dim.upper for dim in (one, other) if dim.upper is not None]
    return Dimension(min(one.lower, other.lower), min(uppers, default=None))


def _at_most(dim: Dimension) -> Dimension:
    return Dimension(0, dim.upper)


def matrix_nms(call: Call) -> list[Output]:
    """MatrixNms: boxes and scores of batches."""
    for name in ("nms_top_k", "keep_top_k"):
        if call.whole(name, -1) == 0:  # it kills the CPU plugin
            raise BadValueError(f"{name} is 0", "1 or more, or -1 for all")
    return _of_classes(call, with_counts=False)


def multiclass_nms(call: Call) -> list[Output]:
    """MulticlassNms: boxes and scores of batches; since opset 9 also of classes, with the number of boxes of each batch."""
    eta = call.number("nms_eta", 1.0)
    if not 0 <= eta <= 1:
        raise BadValueError(f"nms_eta={eta:g} is out of range", "it is 0 to 1")
    if call.count > 2 and call.opset < 9:
        raise BadCountError(f"the layer has {call.count} inputs", "MulticlassNms takes 2 before opset 9")
    return _of_classes(call, with_counts=call.count > 2)


def _of_classes(call: Call, *, with_counts: bool) -> list[Output]:
    kind = call.same_type(0, 1)
    call.takes(0, REALS, "boxes")
    call.index_type("output_type")
    of_class, kept, _ = (call.whole_from(-1, name) for name in ("nms_top_k", "keep_top_k", "background_class"))
    sizes = NamedSizes()
    if with_counts:
        call.takes(2, (I32, I64), "the numbers of boxes")
        sizes.fit(call, 0, "boxes", "classes", "boxes", "4")
        sizes.fit(call, 1, "scores", "classes", "boxes")
        sizes.fit(call, 2, "the numbers of boxes", "batches")
    else:
        sizes.fit(call, 0, "boxes", "batches", "boxes", "4")
        sizes.fit(call, 1, "scores", "batches", "classes", "boxes")
    selected = product((_limited(sizes["boxes"], of_class), sizes["classes"]))
    sizes["selected"] = _at_most(product((_limited(selected, kept), sizes["batches"])))
    batches = sizes["batches"] if with_counts else (call.dims(0) or (ANY,))[0]  # OpenVINO learns no batches from the scores
    return [(kind, sizes.shape("selected", "6")), (None, sizes.shape("selected", "1")), (None, PartialShape((batches,)))]


def _limited(dim: Dimension, most: int) -> Dimension:
    return dim if most < 0 else _least(dim, exactly(most))


def detection_output(call: Call) -> list[Output]:
    """DetectionOutput: box logits, class predictions and proposals of the same priors, and additional ones of these two."""
    if call.count == 4:
        raise BadCountError("the layer has 4 inputs", "DetectionOutput takes 3 or 5")
    kind = call.same_type(0, 1, *range(3, call.count))
    for port, name in ((0, "box logits"), (2, "proposals")):
        call.takes(port, REALS, name)
    call.one_of("code_type", _CODES[0], *_CODES)
    sizes, kept = NamedSizes(), call.wholes("keep_top_k")
    if not kept:
        raise BadValueError("keep_top_k is empty", "one number")
    normalized, variances = call.flag("normalized"), not call.flag("variance_encoded_in_target")
    if not normalized:
        for name in ("input_height", "input_width"):
            call.whole_from(1, name)
    sizes.fit(call, 0, "box logits", "images", "logits")
    sizes.fit(call, 1, "class predictions", "images", "predictions")
    sizes.fit(call, 2, "proposals", "images of proposals", "2" if variances else "1", "proposals")
    images = sizes["images of proposals"]
    if 1 not in images and images.intersect(sizes["images"]) is None:
        raise BadSizeError(f"the proposals are of {images} images, the logits of {sizes['images']}", "of as many, or of 1", 2)
    priors = _shared_out(sizes["proposals"], exactly(4 if normalized else 5), "proposals", 2)
    if call.opset < 8:
        classes = exactly(call.whole_from(1, "num_classes"))
    else:
        classes = _shared_out(sizes["predictions"], priors, "class predictions", 1)
    sizes["4 * priors"] = linear(priors if call.flag("share_location", True) else product((priors, classes)), 4)
    sizes["classes * priors"], sizes["2 * priors"] = product((priors, classes)), linear(priors, 2)
    sizes.fit(call, 0, "box logits", "images", "4 * priors")
    sizes.fit(call, 1, "class predictions", "images", "classes * priors")
    of_logits = sizes["images"]  # OpenVINO learns no sizes from the additional inputs
    if call.count > 3:
        sizes.fit(call, 3, "additional class predictions", "images", "2 * priors")
        sizes.fit(call, 4, "additional box logits", "images", "4 * priors")
    best = call.whole("top_k", -1)
    if kept[0] > 0:
        sizes["found"] = linear(of_logits, kept[0])
    elif kept[0] == -1 and best > 0:
        sizes["found"] = linear(product((of_logits, classes)), best)
    else:
        sizes["found"] = product((of_logits, sizes["classes * priors"]))
    return [(kind, sizes.shape("1", "1", "found", "7"))]


def _shared_out(dim: Dimension, parts: Dimension, name: str, port: int) -> Dimension:
    """Return the size of one part. Raises BadSizeError if they have no one size, or are empty."""
    if not (dim.is_static and parts.is_static and parts.lower):
        return ANY
    if dim.lower == 0 or dim.lower % parts.lower:
        raise BadSizeError(f"there are {dim} numbers of {name}", f"a multiple of {parts}", port)
    return exactly(dim.lower // parts.lower)


def detectron_detection_output(call: Call) -> list[Output]:
    """ExperimentalDetectronDetectionOutput: regions, deltas and scores of as many boxes."""
    kind = call.same_type(*range(call.count))
    call.takes(0, REALS, "the regions")
    call.whole_from(0, "post_nms_count")
    weights, classes = call.numbers("deltas_weights"), call.whole_from(0, "num_classes")
    if len(weights) != 4:
        raise BadValueError(f"deltas_weights has {len(weights)} numbers", "4")
    sizes = NamedSizes(found=exactly(call.whole_from(0, "max_detections_per_image")), classes=exactly(classes))
    sizes["4 * classes"] = exactly(4 * classes)
    sizes.fit(call, 0, "the regions", "regions", "4")
    sizes.fit(call, 1, "the deltas", "regions", "4 * classes")
    sizes.fit(call, 2, "the scores", "regions", "classes")
    sizes.fit(call, 3, "the image size", "1", "3")
    return [(kind, sizes.shape("found", "4")), (I32, sizes.shape("found")), (kind, sizes.shape("found"))]


def best_regions(call: Call) -> list[Output]:
    """ExperimentalDetectronTopKROIs: a score for each region."""
    kind = call.same_type(0, 1)
    call.takes(0, REALS, "the regions")
    sizes = NamedSizes(max_rois=exactly(call.whole_from(0, "max_rois")))
    sizes.fit(call, 0, "the regions", "regions", "4")
    sizes.fit(call, 1, "the scores", "regions")
    return [(kind, sizes.shape("max_rois", "4"))]

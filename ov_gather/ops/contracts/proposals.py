"""Contracts of operators that propose boxes: priors, grids, proposals from scores and deltas."""

from __future__ import annotations

from ov_gather.ir.element_types import F32, INTEGERS, REALS
from ov_gather.ir.shapes import ANY, Dimension
from ov_gather.ops.contracts.call import BadSizeError, BadValueError, Call, Output
from ov_gather.ops.contracts.sizes import NamedSizes, exactly, linear, product


def proposal(call: Call) -> list[Output]:
    """Proposal: two scores and four deltas for each anchor."""
    for port, name in enumerate(("the scores", "the deltas", "the image size")):
        call.takes(port, REALS, name)
    for name in ("base_size", "pre_nms_topn", "feat_stride"):
        call.whole_from(1, name)
    anchors = len(call.numbers("ratio")) * len(call.numbers("scale"))
    sizes = NamedSizes({"2 * anchors": exactly(2 * anchors), "4 * anchors": exactly(4 * anchors)})
    sizes.fit(call, 0, "the scores", "batches", "2 * anchors", "height", "width")
    sizes.fit(call, 1, "the deltas", "batches", "4 * anchors", "height", "width")
    _check_image(call, 2)
    sizes["found"] = linear(sizes["batches"], call.whole_from(1, "post_nms_topn"))
    outputs: list[Output] = [(call.kind(0), sizes.shape("found", "5")), (call.kind(0), sizes.shape("found"))]
    return outputs if call.opset >= 4 else outputs[:1]


def _check_image(call: Call, port: int) -> None:
    call.has_rank(port, "the image size", 1)
    dims, numbers = call.dims(port), call.constant(port)
    if dims and dims[0].intersect(Dimension(3, 4)) is None:
        raise BadSizeError(f"the image size has {dims[0]} numbers", "height, width and one or two scales", port)
    if numbers and (min(numbers[:2]) <= 0 or min(numbers) < 0):
        raise BadValueError(f"the image size is {[*numbers]}", "height and width are above 0, scales 0 or more", port)


def generate_proposals(call: Call) -> list[Output]:
    """GenerateProposals: a score and four deltas for each anchor, in batches."""
    eta = call.number("nms_eta", 1.0)
    if not 0 < eta <= 1:
        raise BadValueError(f"nms_eta={eta:g} is out of range", "it is above 0, and 1 at most")
    call.whole_from(1, "pre_nms_count")
    call.index_type("roi_num_type")
    sizes = NamedSizes()
    sizes.fit(call, 0, "the image sizes", "batches", "numbers of an image")
    if sizes["numbers of an image"].intersect(Dimension(3, 4)) is None:
        reason = f"the size of an image has {sizes['numbers of an image']} numbers"
        raise BadSizeError(reason, "height, width and one or two scales", 0)
    sizes.fit(call, 3, "the scores", "batches", "anchors", "height", "width")
    sizes["4 * anchors"] = linear(sizes["anchors"], 4)
    sizes.fit(call, 2, "the deltas", "batches", "4 * anchors", "height", "width")
    sizes.fit(call, 1, "the anchors", "height", "width", "anchors", "4")
    most = linear(sizes["batches"], call.whole_from(1, "post_nms_count"))
    sizes["found"] = Dimension(0, most.upper)
    kind = call.kind(0)
    return [(kind, sizes.shape("found", "4")), (kind, sizes.shape("found")), (None, sizes.shape("batches"))]


def of_one_image(call: Call) -> list[Output]:
    """ExperimentalDetectronGenerateProposalsSingleImage: a score and four deltas for each anchor."""
    kind = call.same_type(*range(call.count))
    call.takes(0, REALS, "the image size")
    call.whole_from(0, "pre_nms_count")
    sizes = NamedSizes(found=exactly(call.whole_from(1, "post_nms_count")))
    sizes.fit(call, 0, "the image size", "3")
    sizes.fit(call, 3, "the scores", "channels", "height", "width")
    sizes["4 * channels"] = linear(sizes["channels"], 4)
    sizes["height * width * channels"] = product([sizes[name] for name in ("height", "width", "channels")])
    sizes.fit(call, 2, "the deltas", "4 * channels", "height", "width")
    sizes.fit(call, 1, "the anchors", "height * width * channels", "4")
    return [(kind, sizes.shape("found", "4")), (kind, sizes.shape("found"))]


def prior_grid(call: Call) -> list[Output]:
    """ExperimentalDetectronPriorGridGenerator: priors at each cell of a feature map."""
    kind = call.same_type(*range(call.count))
    call.takes(0, REALS, "the priors")
    sizes = NamedSizes()
    sizes.fit(call, 0, "the priors", "priors", "4")
    sizes.fit(call, 1, "the feature map", "batches", "features", "height", "width")
    sizes.fit(call, 2, "the image", "batches", "channels", "height of the image", "width of the image")
    for name, size in (("h", "height"), ("w", "width")):
        cells = call.whole_from(0, name)
        if sizes[size].upper is not None and cells > sizes[size].upper:  # type: ignore[operator]
            raise BadValueError(f"{name} is {cells}, the feature map has {size} {sizes[size]}", "at most that")
    if call.flag("flatten", True):
        sizes["all"] = product([sizes[name] for name in ("height", "width", "priors")])
        return [(kind, sizes.shape("all", "4"))]
    return [(kind, sizes.shape("height", "width", "priors", "4"))]


def prior_boxes(call: Call) -> list[Output]:
    """PriorBox: boxes of several sizes and ratios at each point of a grid."""
    for name in ("min_size", "max_size", "aspect_ratio", "fixed_ratio", "fixed_size", "density"):
        if not all(0 < number < float("inf") for number in call.numbers(name)):
            raise BadValueError(f"{name} is {list(call.numbers(name))}", "a number is above 0")
    return _priors(call, _number_of_priors(call))


def _number_of_priors(call: Call) -> int:
    given = call.numbers("aspect_ratio")
    ratios = {1.0, *(round(ratio, 6) for ratio in given)}
    if call.flag("flip"):
        ratios |= {round(1 / ratio, 6) for ratio in given}
    least, largest, fixed = (len(call.numbers(name)) for name in ("min_size", "max_size", "fixed_size"))
    if fixed:
        number = len(ratios) * fixed
    elif call.flag("scale_all_sizes", True):
        number = len(ratios) * least + largest
    else:
        number = len(ratios) + least - 1
    of_density = len(call.numbers("fixed_ratio")) or len(ratios)
    return number + sum(of_density * (int(density) ** 2 - 1) for density in call.numbers("density"))


def clustered_priors(call: Call) -> list[Output]:
    """PriorBoxClustered: boxes of given widths and heights at each point of a grid."""
    widths, heights = call.numbers("width"), call.numbers("height")
    if len(widths) != len(heights):
        raise BadValueError(f"there are {len(widths)} widths and {len(heights)} heights", "one of each for a box")
    if any(size <= 0 for size in (*widths, *heights)):
        raise BadValueError("a width or a height is not above 0", "boxes have sizes above 0")
    return _priors(call, len(widths))


def _priors(call: Call, number: int) -> list[Output]:
    call.same_type(0, 1)
    variances = len(call.numbers("variance"))
    if variances not in (0, 1, 4):
        raise BadValueError(f"variance has {variances} numbers", "none, one or 4")
    sizes = NamedSizes()
    for port, name in enumerate(("the size of the grid", "the size of the image")):
        call.takes(port, INTEGERS, name)
        sizes.fit(call, port, name, "2")
        values = call.wholes_of(port)
        if values is not None and min(values) < 0:
            raise BadValueError(f"{name} is {list(values)}", "a size is 0 or more", port)
    grid = call.wholes_of(0)
    sizes["numbers"] = exactly(4 * number * grid[0] * grid[1]) if grid is not None else ANY
    return [(F32, sizes.shape("2", "numbers"))]

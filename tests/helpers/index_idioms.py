"""The 25 idioms by which real models compute indices, operation by operation as exporters write them for OpenVINO.

The best answers are worked out by hand. An empty dict means that the gather is proved for all inputs; otherwise it is in bounds
exactly if the conditions hold, apart from what the plugin rounds or leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as ops

from helpers.openvino_models import counted, looked_up, made_of, number, size_of

Requires = Mapping[str, tuple[int | str | None, int | str | None]]
I32 = np.int32


@dataclass(frozen=True)
class Idiom:
    """How a model computes indices, and the best answers.

    make: from the inputs to what is gathered. static, dynamic: the shapes of the inputs. if_static, if_dynamic: the weakest
    conditions.
    """

    make: Callable[..., Any]
    static: dict[str, str]
    dynamic: dict[str, str]
    if_static: Requires = field(default_factory=dict)
    if_dynamic: Requires = field(default_factory=dict)

    def model(self, *, is_dynamic: bool) -> ov.Model:
        return made_of(self.make, **(self.dynamic if is_dynamic else self.static))


def as_i32(index):
    """PyTorch's front end converts indices of embeddings."""
    return ops.convert(index, "i32")


def embedded(rows, index):
    return looked_up(rows, as_i32(index))


def plus(x, value, shape=(1, 1), dtype=np.int64):
    return ops.add(x, number(np.full(shape, value), dtype))


def position_ids(mask):
    """Count the true ones, and replace the positions of the others by 1, as Llama does."""
    places = plus(ops.cum_sum(mask, number(-1)), -1)
    return embedded(512, ops.select(ops.equal(mask, number([[0]])), number(1), places))


def roberta(ids):
    """Positions of what is no padding, from the number of the padding on."""
    mask = ops.convert(ops.not_equal(ids, number([[1]])), "i32")
    return embedded(514, plus(ops.convert(ops.multiply(ops.cum_sum(mask, number(1)), mask), "i64"), 1))


def relative_buckets(hidden):
    """T5: near distances have buckets of their own, far ones share them by their logarithm."""
    line = counted(size_of(hidden, 1))
    distance = ops.subtract(ops.unsqueeze(line, number(0)), ops.unsqueeze(line, number(1)))
    side = ops.multiply(ops.convert(ops.greater(distance, number([[0]])), "i64"), number([[16]]))
    length = ops.abs(distance)
    ratio = ops.log(ops.divide(ops.convert(length, "f32"), number([[8]], np.float32)))
    far = ops.convert(ops.multiply(ops.divide(ratio, number(2.7725887, np.float32)), number([[8]], np.float32)), "i64")
    bucket = ops.select(ops.less(length, number([[8]])), length, ops.minimum(plus(far, 8), number(15)))
    return embedded(32, ops.add(side, bucket))


def rows_of(hidden):
    """What is gathered from if there are two indices: the first two axes as one."""
    shape = ops.shape_of(hidden, "i32")
    whole = ops.reduce_prod(ops.slice(shape, *(number([at], I32) for at in (0, 2, 1)), number([0])), number(0, I32), True)
    return ops.reshape(hidden, ops.concat([whole, number([-1], I32)], 0), True)


def one_of_each_row(hidden, place):
    """`hidden[arange(batch), place]`."""
    row = ops.multiply(as_i32(counted(size_of(hidden))), as_i32(size_of(hidden, 1)))
    return ops.gather(rows_of(hidden), ops.add(as_i32(place), row), number(0, I32))


def end_of_text(ids, hidden):
    """CLIP: the position of the greatest id."""
    place = ops.topk(as_i32(ids), number(1, I32), -1, "max", "value", "i64", stable=True).output(1)
    return one_of_each_row(hidden, ops.squeeze(place, number(-1, I32)))


def last_token(mask, hidden):
    return one_of_each_row(hidden, plus(ops.reduce_sum(mask, number([1])), -1, [1]))


def best_of_each_row(scores, hidden):
    """The places of the three highest scores in each row of the batch, as rows of the whole batch."""
    places = ops.topk(scores, number(3), -1, "max", "value", "i64").output(1)
    first = ops.unsqueeze(ops.multiply(counted(size_of(hidden)), size_of(hidden, 1)), number(1))
    rows = ops.reshape(hidden, number([-1, 4]), False)
    return ops.gather(rows, ops.reshape(ops.add(places, first), number([-1]), False), number(0))


def detections(logits, boxes):
    """DETR: the boxes of the 100 highest scores among all boxes and classes."""
    scores = ops.reshape(ops.sigmoid(logits), number([0, -1]), True)
    places = ops.topk(scores, number(100), 1, "max", "value", "i64").output(1)
    row = ops.floor(ops.divide(places, size_of(logits, 2)))
    return ops.gather_elements(boxes, as_i32(ops.tile(ops.unsqueeze(row, number(-1)), number([1, 1, 4]))), 1)


def boolean_mask(x, mask):
    return ops.gather_nd(x, ops.transpose(ops.non_zero(mask, "i64"), number([1, 0])))


def where_true(x, mask):
    """`x[torch.where(mask)]`: rows and columns become one index."""
    row, column = ops.split(ops.non_zero(mask, "i64"), number(0, I32), 2).outputs()
    row, column = (as_i32(ops.squeeze(one, number(0, I32))) for one in (row, column))
    width = ops.gather(ops.shape_of(x, "i32"), number([1]), number(0))
    return ops.gather(rows_of(x), ops.add(column, ops.multiply(row, width)), number(0, I32))


def scaled(x):
    """`floor(x * 50).clamp(0, 49)`; the plugin makes 0 of NaN."""
    return embedded(50, ops.convert(ops.clamp(ops.floor(ops.multiply(x, number([[50]], np.float32))), 0, 49), "i64"))


def if_in_range(index):
    inside = ops.bitwise_and(ops.greater_equal(index, number([[0]])), ops.less(index, number([[50]])))
    return embedded(50, ops.select(inside, index, ops.convert(number([[0.0]], np.float32), "i64")))


def windows(x):
    """Windows of 4 in steps of 2."""
    last = ops.floor(ops.divide(plus(size_of(x, 1), -4, []), number(2)))
    starts = ops.multiply(ops.unsqueeze(counted(plus(last, 1, [])), number(1)), number([[2]]))
    return ops.gather(x, as_i32(ops.add(starts, number([[0, 1, 2, 3]]))), number(1))


def pixels(image, points):
    """The pixel above and left of each point: y * width + x. Points may be outside of the image, or NaN."""

    def place(column, size):
        scaled = ops.multiply(
            plus(ops.gather(points, number(column), number(2)), 1, dtype=np.float32), ops.convert(size, "f32")
        )
        lowest = ops.floor(ops.divide(plus(scaled, -1, dtype=np.float32), number([[2]], np.float32)))
        if size_is_known(image):
            edge = float(image.get_output_shape(0)[3 - column] - 1)
            return ops.convert(ops.clamp(lowest, 0, edge), "i64")
        edge = ops.convert(plus(size, -1, []), "f32")
        return ops.convert(ops.minimum(ops.maximum(lowest, number([[0]], np.float32)), edge), "i64")

    height, width = size_of(image, 2), size_of(image, 3)
    index = ops.unsqueeze(ops.add(ops.multiply(place(1, height), width), place(0, width)), number(1))
    channels = ops.gather(ops.shape_of(image), number([1]), number(0))
    index = ops.broadcast(index, ops.concat([number([1]), channels, number([1])], 0), broadcast_spec="bidirectional")
    return ops.gather_elements(ops.reshape(image, number([0, 0, -1]), True), as_i32(index), 2)


def size_is_known(x):
    return x.get_output_partial_shape(0).is_static


def experts(hidden):
    """The two best experts of each token."""
    weights = ops.matmul(hidden, number(np.ones((4, 8)), np.float32), False, False)
    return ops.softmax(weights, -1), ops.topk(ops.softmax(weights, -1), number(2), -1, "max", "value", "i64").output(1)


def weights_of_experts(hidden):
    return ops.gather(number(np.ones((8, 4, 4)), np.float32), as_i32(experts(hidden)[1]), number(0, I32))


def tokens_by_expert(hidden):
    """Tokens in the order of their experts: `argsort(experts) // 2`, to which the results are added."""
    chosen = ops.reshape(experts(hidden)[1], number([-1]), False)
    size = ops.gather(ops.shape_of(chosen), number(0), number(0))
    order = ops.topk(chosen, size, -1, "min", "value", "i64").output(1)
    token = ops.floor(ops.divide(order, number([2])))
    rows = ops.gather(hidden, as_i32(token), number(0, I32))
    whole = ops.broadcast(ops.unsqueeze(token, number(1)), ops.shape_of(rows))
    zeros = ops.broadcast(number(0, np.float32), ops.shape_of(hidden))
    return ops.scatter_elements_update(zeros, whole, rows, number(0), "sum")


def bags(ids, offsets):
    """EmbeddingBag: a Loop over the bags, each a slice of the ids from its offset to that of the next bag."""
    ends = ops.slice(ops.concat([offsets, ops.shape_of(ids)], 0), number([1]), number([2**31 - 1]), number([1]))
    inner = [ops.parameter(node.get_output_partial_shape(0), np.int64) for node in (ids, offsets, ends)]
    trip = ops.parameter(ov.PartialShape([]), np.int64)
    first, last = (ops.unsqueeze(ops.gather(one, trip, number(0)), number(0)) for one in inner[1:])
    rows = ops.gather(number(np.ones((100, 4)), np.float32), ops.slice(inner[0], first, last, number([1])), number(0))
    bag = ops.unsqueeze(ops.reduce_sum(rows, number([0]), False), number(0))
    loop = ops.loop(size_of(offsets), ops.constant(True))
    loop.set_function(ov.Model([ops.result(ops.constant(True)), ops.result(bag)], [*inner, trip], "bag"))
    loop.set_special_body_ports([3, 0])
    for inside, outside in zip(inner, (ids, offsets, ends), strict=True):
        loop.set_invariant_input(inside, outside.output(0))
    return loop.get_concatenated_slices(bag.output(0), 0, 1, 1, -1, 0)


def after_the_past(ids, past):
    """Positions from the length of the cache on."""
    length = size_of(past, 2)
    line = ops.range(length, ops.add(size_of(ids, 1), length), number(1), "i64")
    return embedded(512, line)


def kept_boxes(boxes, scores):
    """The boxes that NonMaxSuppression keeps."""
    many = [ops.unsqueeze(boxes, number(0)), ops.unsqueeze(ops.unsqueeze(scores, number(0)), number(0))]
    kept = ops.non_max_suppression(*many, number(100), number(0.5, np.float32), number(0.0, np.float32)).output(0)
    return ops.gather(boxes, ops.squeeze(ops.gather(kept, number([2]), number(1)), number([1])), number(0))


IDS, OPEN_IDS = "i64[2,8]", "i64[?,?]"
HIDDEN, OPEN_HIDDEN = "f32[2,8,4]", "f32[?,?,4]"
IN_ROWS: Requires = {"dim(h, 1)": ("dim(s, 1)", None)}


def of_ids(make, if_static: Requires | None = None, if_dynamic: Requires | None = None, *, name="ids", kind="i64") -> Idiom:
    shapes = {name: f"{kind}[2,8]"}, {name: f"{kind}[?,?]"}
    return Idiom(make, *shapes, if_static or {}, if_static or {} if if_dynamic is None else if_dynamic)


IDIOMS = {
    "embedding": of_ids(lambda ids: embedded(1000, ids), {"ids": (-1000, 999)}),
    "arange and clamp": of_ids(lambda ids: embedded(512, ops.clamp(counted(size_of(ids, 1)), -(2.0**31), 511))),
    "positions by arange": of_ids(
        lambda ids: embedded(512, ops.unsqueeze(counted(size_of(ids, 1)), number(0))), {}, {"dim(ids, 1)": (None, 512)}
    ),
    "positions by cumsum": of_ids(position_ids, {"mask": (0, 1)}, {"mask": (0, 1), "dim(mask, 1)": (None, 512)}, name="mask"),
    "RoBERTa positions": of_ids(roberta, {}, {"dim(ids, 1)": (None, 512)}),
    "relative buckets": Idiom(relative_buckets, {"h": HIDDEN}, {"h": OPEN_HIDDEN}),
    "argmax of eos": Idiom(
        end_of_text,
        {"s": IDS, "h": HIDDEN},
        {"s": OPEN_IDS, "h": OPEN_HIDDEN},
        if_dynamic={"dim(s, 1)": (1, None), **IN_ROWS},
    ),
    "beam_idx": Idiom(
        lambda past, beam_idx: ops.gather(past, beam_idx, number(0)),
        {"past": "f32[2,4,8,4]", "beam_idx": "i32[2]"},
        {"past": "f32[?,4,?,4]", "beam_idx": "i32[?]"},
        {"beam_idx": (-2, 1)},
        {"beam_idx": ("-dim(past, 0)", "dim(past, 0) - 1")},
    ),
    "top-k and batch offset": Idiom(
        best_of_each_row,
        {"s": "f32[2,8]", "h": HIDDEN},
        {"s": "f32[?,?]", "h": OPEN_HIDDEN},
        if_dynamic={"dim(s, 1)": (3, None), **IN_ROWS},
    ),
    "DETR": Idiom(
        detections,
        {"s": "f32[2,100,91]", "h": "f32[2,100,4]"},
        {"s": "f32[?,?,91]", "h": "f32[?,?,4]"},
        if_dynamic={"dim(s, 1)": (2, None), **IN_ROWS},
    ),
    "boolean mask": Idiom(
        boolean_mask,
        {"h": HIDDEN, "s": "boolean[2,8]"},
        {"h": OPEN_HIDDEN, "s": "boolean[?,?]"},
        if_dynamic={"dim(h, 0)": ("dim(s, 0)", None), **IN_ROWS},
    ),
    "ids % n": of_ids(lambda ids: embedded(100, ops.floor_mod(ids, number([[100]]))), {"ids": (-(2**24), 2**24)}),
    "where(mask)": Idiom(
        where_true,
        {"h": HIDDEN, "s": "boolean[2,8]"},
        {"h": OPEN_HIDDEN, "s": "boolean[?,?]"},
        if_dynamic={"dim(h, 0)": ("dim(s, 0)", None), **IN_ROWS},
    ),
    "floor(x s).clamp": of_ids(scaled, kind="f32"),
    "where(in range)": of_ids(if_in_range),
    "last token": Idiom(
        last_token,
        {"s": IDS, "h": HIDDEN},
        {"s": OPEN_IDS, "h": OPEN_HIDDEN},
        {"s": (-1, 1)},
        {"s": (0, 1), "dim(s, 1)": (1, None), **IN_ROWS},
    ),
    "sliding windows": Idiom(windows, {"x": "f32[2,20,4]"}, {"x": "f32[?,?,4]"}, if_dynamic={"dim(x, 1)": (4, None)}),
    "bilinear": Idiom(
        pixels,
        {"im": "f32[1,3,12,10]", "xy": "f32[1,7,2]"},
        {"im": "f32[?,?,?,?]", "xy": "f32[?,?,2]"},
        if_dynamic={"dim(im, 2)": (1, None), "dim(im, 3)": (1, None)},
    ),
    "MoE: weights of experts": Idiom(weights_of_experts, {"h": "f32[16,4]"}, {"h": "f32[?,4]"}),
    "MoE: tokens by expert": Idiom(tokens_by_expert, {"h": "f32[16,4]"}, {"h": "f32[?,4]"}),
    "bag offsets": Idiom(
        bags,
        {"ids": "i64[8]", "offsets": "i64[3]"},
        {"ids": "i64[?]", "offsets": "i64[?]"},
        {"ids": (-100, 99)},
        {"ids": (-100, 99)},
    ),
    "KV-cache positions": Idiom(
        after_the_past,
        {"ids": IDS, "past": "f32[2,4,5,4]"},
        {"ids": OPEN_IDS, "past": "f32[?,4,?,4]"},
        if_dynamic={"dim(ids, 1) + dim(past, 2)": (None, 512)},
    ),
    "segment ids": of_ids(lambda seg: embedded(2, seg), {"seg": (-2, 1)}, name="seg"),
    "bucketize": of_ids(
        lambda x: embedded(16, ops.bucketize(x, number(np.linspace(0, 1, 15), np.float32), "i64")), name="x", kind="f32"
    ),
    "NMS": Idiom(kept_boxes, {"boxes": "f32[20,4]", "s": "f32[20]"}, {"boxes": "f32[?,4]", "s": "f32[?]"}),
}

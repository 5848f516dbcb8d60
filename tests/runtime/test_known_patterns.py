"""A pattern of a known fault is reported if, and only if, OpenVINO computes another result than NumPy."""

from contextlib import nullcontext
from itertools import permutations, product
from math import prod
from types import SimpleNamespace

import numpy as np
import onnx.parser
import onnx.reference
import openvino as ov
import pytest
from openvino import opset13 as op
from openvino import opset16

from helpers.known_faults import as_ir
from helpers.known_patterns import constant
from helpers.saved_models import parsed
from ov_gather import validate
from ov_gather.converters.repairs import repair_faults
from ov_gather.rules.releases import RELEASES
from ov_gather.runtimes.isolated import borrowed
from ov_gather.system.worker import CrashedError

NEW = np.newaxis


VIEWS = {
    "none": lambda both: both,
    "vector": lambda both: op.reshape(both, constant(-1), False),
    "matrix": lambda both: op.reshape(both, constant(-1, 1), False),
    "there and back": lambda both: op.squeeze(op.unsqueeze(both, constant(0)), constant(0)),
    "twice": lambda both: op.concat([both, both], 0),
    "negative": lambda both: op.negative(both),
}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("shape", [[2], [1, 2], [-1]])
def test_abs_of_concat(shape, is_read, view, agrees):
    x, y = op.parameter(shape, np.float32), op.parameter(shape, np.float32)
    both = op.concat([x, y], 0)
    seen = VIEWS[view](both) if len(shape) == 1 else both
    feed = [np.float32([-1, 2]), np.float32([-3, -4])]
    feed = feed if len(shape) == 1 else [one[NEW] for one in feed]
    outputs, expected = (
        [op.abs(seen)],
        [np.abs(VIEWS_OF_NUMPY[view](np.concatenate(feed)) if len(shape) == 1 else np.concatenate(feed))],
    )
    if is_read:
        outputs, expected = [both, *outputs], [np.concatenate(feed), *expected]
    agrees(outputs, [x, y], feed, expected)


def test_abs_of_rows_that_are_joined(agrees):
    """Abs overwrites a Concat of vectors, and not what a Concat of rows has copied."""
    x, y = op.parameter([2], np.float32), op.parameter([2], np.float32)
    both = op.concat([x, y], 0)
    rows = op.concat([op.reshape(both, constant(1, 4), False)] * 2, 0)
    feed = [np.float32([-1, 2]), np.float32([-3, -4])]
    joined = np.concatenate(feed)
    agrees([op.abs(op.reshape(rows, constant(8), False)), both], [x, y], feed, [np.abs(np.tile(joined, 2)), joined])


VIEWS_OF_NUMPY = {
    "none": lambda both: both,
    "vector": lambda both: both,
    "matrix": lambda both: both[:, NEW],
    "there and back": lambda both: both,
    "twice": lambda both: np.concatenate([both, both]),
    "negative": lambda both: -both,
}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(4, 3, 5), (4, 1, 5), (1, 3, 5), (2, 3, 5), (2, 3, 4, 5)])
def test_gather_of_constants_before_matmul(shape, transposed, rng, each_agrees):
    data, indices = rng.standard_normal(shape, np.float32), rng.integers(0, shape[0], shape)
    cases = {}
    for order in permutations(range(len(shape))):
        right = np.take_along_axis(data, indices, 0).transpose(order)
        right = right.swapaxes(-1, -2) if transposed else right
        x = rng.standard_normal((*right.shape[:-2], 2, right.shape[-2]), np.float32)
        left = op.parameter(x.shape, np.float32)
        moved = op.transpose(op.gather_elements(op.constant(data), op.constant(indices), 0), constant(*order))
        cases[str(order)] = [op.matmul(left, moved, False, transposed)], [left], [x], [x @ right]
    each_agrees(cases)


@pytest.mark.parametrize("transposed", [False, True])
def test_constants_moved_twice_before_matmul(transposed, rng, each_agrees):
    data, indices = rng.standard_normal((4, 3, 5), np.float32), rng.integers(0, 4, (4, 3, 5))
    gathered, cases = np.take_along_axis(data, indices, 0), {}
    for orders in product(permutations(range(3)), repeat=2):
        moved, right = op.gather_elements(op.constant(data), op.constant(indices), 0), gathered
        for order in orders:
            moved, right = op.transpose(moved, constant(*order)), right.transpose(order)
        right = right.swapaxes(-1, -2) if transposed else right
        x = rng.standard_normal((right.shape[0], 2, right.shape[1]), np.float32)
        left = op.parameter(x.shape, np.float32)
        cases[str(orders)] = [op.matmul(left, moved, False, transposed)], [left], [x], [x @ right]
    each_agrees(cases)


def test_tile(each_agrees):
    """A repeat is a constant, or a size of the input (None)."""
    x, cases = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2), {}
    for repeats in product((1, None, 3), repeat=4):
        data = op.parameter([-1] * 4, np.float32)
        sizes = op.shape_of(data)
        parts = [op.gather(sizes, constant(i), op.constant(0)) if n is None else constant(n) for i, n in enumerate(repeats)]
        times = [2 if n is None else n for n in repeats]
        cases[str(repeats)] = [op.tile(data, op.concat(parts, 0))], [data], [x], [np.tile(x, times)]
    each_agrees(cases)


@pytest.mark.parametrize(
    ("shape", "repeats"),
    [
        ((2, 2, 2, 3, 3), (1, 2, 2, 1, 2)),
        ((3, 2, 3, 2, 3), (1, 2, 1, 2, 2)),
        ((3, 2, 3, 2, 3), (2, 2, 1, 1, 2)),
        ((2, 2, 2, 1, 3, 2), (2, 1, 2, 1, 2, 1)),
        ((2, 1, 1, 2, 2), (1, 2, 2, 2, 2)),
        ((2, 2, 2, 2), (1, 2, 2, 2, 1)),
        ((2, 2, 2, 2), (2, 1, 1, 2, 2)),
        ((2, 2, 2), (2, 2, 2, 2, 2)),
        ((2, 3, 2, 1), (2, 2, 2, 2)),
        ((2, 2, 2, 2), (2, 1, 2, 2, 2)),
        ((2, 2, 2, 2, 2), (2, 2, 2, 2)),
        ((2, 2, 2, 2, 2), (1, 2, 2)),
    ],
)
@pytest.mark.parametrize("is_viewed", [False, True])
def test_tile_of_several_axes(shape, repeats, is_viewed, agrees):
    """Neighbouring axes are repeated together; those of one element do not count."""
    x = np.arange(1, prod(shape) + 1, dtype=np.float32).reshape(shape)
    data, twice = op.parameter(shape, np.float32), op.parameter([1], np.int64)
    times = op.concat([twice if n > 1 else constant(1) for n in repeats], 0)
    times = op.reshape(op.convert(times, "i32"), constant(-1), False) if is_viewed else times
    outputs = [op.tile(data, times), op.add(twice, twice)]
    agrees(outputs, [data, twice], [x, np.array([2])], [np.tile(x, repeats), np.array([4])])


@pytest.mark.parametrize(
    ("sizes", "repeats"),
    [
        *(([-1, 1, 3, 2], (1, 2, 2, 1)), ([2, 1, -1, 2], (2, 3, 1, 2)), ([-1, 1, 2, 3, 2], (1, 1, 1, 2, 2))),
        *(([-1, 1, 3, 2], (2, 2, 1, 1)), ([-1, 1, 3, 2], (2, 1, 1, 1)), ([2, 1, 3, 2], (1, 2, 2, 1))),
        *(([-1, 2, 3, 2], (1, 2, 2, 1)), ([-1, -1, 3, 2], (1, 2, 2, 1)), ([-1, 1, 3], (1, 2, 2))),
        *(([-1, 1, 3, 2], (1, 1, 2, 2, 1)), ([-1, 1, 1, 2, 3, 2], (1, 2, 1, 2, 1, 1))),
    ],
    ids=str,
)
def test_tile_of_one_channel(sizes, repeats, agrees):
    x = np.arange(1, 200, dtype=np.float32)[: prod(abs(size) for size in sizes)].reshape([abs(size) for size in sizes])
    data = op.parameter(sizes, np.float32)
    agrees([op.tile(data, constant(*repeats))], [data], [x], [np.tile(x, repeats)])


@pytest.mark.parametrize("fixed", [[1, 1, 1], [1, 1, 3], [1, 3, 1], [1, 3, 3], [3, 3, 3], [1, 1], [3, 1], [1, 3]])
def test_tile_with_several_constant_repeats(fixed, agrees):
    """The last repeats are one input."""
    x, rest = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2), np.full(4 - len(fixed), 2)
    data, given = op.parameter([-1] * 4, np.float32), op.parameter([len(rest)], np.int64)
    agrees([op.tile(data, op.concat([constant(*fixed), given], 0))], [data, given], [x, rest], [np.tile(x, [*fixed, *rest])])


@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [
        *(([2, 5, 3], [2, 4], 1), ([1, 5, 17], [1, 4], 1), ([1, 50], [1, 16], 1), ([1, 2, 5, 3], [1, 4], 2)),
        *(([1, 50], [1, 4, 8], 1), ([1, 5, 4, 5], [1, 3], 1)),
    ],
)
def test_gathers_with_batches_that_are_right(shape, indices, axis, agrees):
    """Those that are wrong end the process."""
    x, places = np.arange(np.prod(shape), dtype=np.float32).reshape(shape), np.arange(np.prod(indices)).reshape(indices)
    places %= shape[axis]
    expected = np.stack([np.take(one, at, axis - 1) for one, at in zip(x, places, strict=True)])
    data, wanted = op.parameter(shape, np.float32), op.parameter(indices, np.int64)
    agrees([op.gather(data, wanted, op.constant(axis), 1)], [data, wanted], [x, places], [expected])


SLICES = {
    "new_shrink": ([1, 0], [0, 1], [0, 0], lambda x: x[NEW, 1]),
    "shrink_new": ([0, 1], [1, 0], [0, 0], lambda x: x[1, NEW]),
    "new": ([1, 0], [0, 0], [0, 0], lambda x: x[NEW, 1:2]),
    "shrink": ([0, 0], [0, 1], [0, 0], lambda x: x[1:2, 1]),
    "shrink_twice": ([0, 0], [1, 1], [0, 0], lambda x: x[1, 1]),
    "rest_shrink": ([0, 0], [0, 1], [1, 0], lambda x: x[..., 1]),
    "new_instead_of_shrink": ([1, 0], [1, 0], [0, 0], lambda x: x[NEW, 1:2]),
    "new_instead_of_one_shrink": ([1, 0], [1, 1], [0, 0], lambda x: x[NEW, 1]),
    "new_twice": ([1, 1], [0, 1], [0, 0], lambda x: x[NEW, NEW]),
    "rest_new": ([0, 1], [0, 0], [1, 0], lambda x: x[..., NEW]),
}


@pytest.mark.parametrize("size", [-1, 3])
@pytest.mark.parametrize("name", SLICES)
def test_masks_of_strided_slice(name, size, agrees):
    new, shrink, rest, expected = SLICES[name]
    x = np.arange(1, 28, dtype=np.float32).reshape(3, 3, 3)
    data = op.parameter([size] * 3, np.float32)
    masks = {"begin_mask": [0, 0], "end_mask": [0, 0], "new_axis_mask": new, "shrink_axis_mask": shrink, "ellipsis_mask": rest}
    sliced = op.strided_slice(data, constant(1, 1), constant(2, 2), constant(1, 1), **masks)
    agrees([sliced], [data], [x], [expected(x)])


@pytest.mark.parametrize("size", [-1, 3])
@pytest.mark.parametrize("masks", [([1, 0], [0, 1]), ([0, 1], [1, 0]), ([1, 0], [1, 1])])
def test_masks_of_strided_slice_of_a_vector(masks, size, agrees):
    """One axis that is added beside the only one, which is removed, is right."""
    x, data = np.float32([1, 2, 3]), op.parameter([size], np.float32)
    new, shrink = masks
    sliced = op.strided_slice(data, constant(1, 1), constant(2, 2), constant(1, 1), [0, 0], [0, 0], new, shrink)
    agrees([sliced], [data], [x], [x[1:2]])


@pytest.mark.parametrize("to", ["boolean", "i32", "u8"])
@pytest.mark.parametrize("part", [0, 1])
def test_convert_of_another_output(part, to, agrees):
    x = np.float32([5, 0, 0, 7])
    data = op.parameter([4], np.float32)
    half = op.split(data, op.constant(0), 2).output(part)
    dtype = {"boolean": bool, "i32": np.int32, "u8": np.uint8}[to]
    agrees([op.convert(half, to)], [data], [x], [np.split(x, 2)[part].astype(dtype)])


BETWEEN = {
    "convert": lambda half: op.convert(half, "f32"),
    "reshape": lambda half: op.reshape(half, constant(2), False),
    "times one": lambda half: op.multiply(half, op.constant(np.float32(1))),
    "plus nothing": lambda half: op.add(half, op.constant(np.float32(0))),
    "times two": lambda half: op.multiply(half, op.constant(np.float32(2))),
    "whole": lambda half: op.convert(half, "i32"),
    "none": lambda half: half,
}


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("between", BETWEEN)
def test_convert_like_of_another_output(between, is_read, part, agrees):
    x, data, truth = np.float32([5, 0, 0, 7]), op.parameter([4], np.float32), op.parameter([1], np.bool_)
    half = BETWEEN[between](op.split(data, op.constant(0), 2).output(part))
    others = [half] if is_read and between != "none" else []
    values = np.split(x, 2)[part] * (2 if between == "times two" else 1)
    outputs = [op.convert_like(half, truth), op.logical_not(truth), *others]
    agrees(
        outputs, [data, truth], [x, np.array([True])], [values.astype(bool), np.array([False]), *([values] if others else [])]
    )


def _sequence(data):
    row, state = op.reshape(data, constant(1, 2, 2), False), op.constant(np.zeros((1, 1, 3), np.float32))
    weights = [op.constant(np.ones(shape, np.float32)) for shape in ((1, 12, 2), (1, 12, 3), (1, 12))]
    return op.lstm_sequence(row, state, state, constant(2), *weights, 3, "forward")


OUTPUTS = {
    "TopK": lambda data: op.topk(data, op.constant(np.int32(2)), 0, "max", "value"),
    "VariadicSplit": lambda data: op.variadic_split(data, op.constant(0), constant(2, 2)),
    "LSTMSequence": _sequence,
}


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("to", ["boolean", "u8"])
@pytest.mark.parametrize("between", ["none", "times one", "times two"])
def test_convert_of_an_output_that_is_no_default(between, to, kind, part, tmp_path):
    """OpenVINO refuses what is warned of."""
    data = op.parameter([4], np.float32)
    both = OUTPUTS[kind](data)
    read, truth = both.output(part), op.parameter([1], getattr(ov.Type, to))
    if between != "none":
        read = op.multiply(read, op.constant(read.get_element_type().to_dtype().type(2 if between == "times two" else 1)))
    made = op.convert_like(read, truth) if between == "times one" else op.convert(read, to)
    model = ov.Model([made, op.convert(truth, "i32")], [data, truth])
    as_ir(model, tmp_path / "model.xml")
    warned = validate(tmp_path / "model.xml", select=["OVG711"])
    assert bool(warned) is (to == "boolean" and between != "times two")
    with pytest.raises(RuntimeError, match="Default output") if warned else nullcontext():
        ov.compile_model(model, "CPU")


TO_NOTHING = [
    ([3], [0, 3]),
    ([1, 3], [0, 3]),
    ([2, 1], [0, 2, 1]),
    ([2, 1], [0, 1, 2, 1]),
    ([3], [0, 1]),
    ([1], [0, 1]),
    ([1], [0]),
]


@pytest.mark.parametrize("mode", ["NUMPY", "BIDIRECTIONAL"])
@pytest.mark.parametrize(
    ("shape", "target"), [([1, 1], [0, 4]), ([1, 4], [0, 1]), ([1], [3, 0]), ([1, 1], [2, 4]), *TO_NOTHING]
)
def test_broadcast_to_no_elements(shape, target, mode, agrees):
    if mode == "NUMPY" and target[-1] == 1 != shape[-1]:
        return  # 4 is not broadcast to 1
    data = op.parameter(shape, np.float32)
    spread = op.broadcast(data, constant(*target), broadcast_spec=mode)
    agrees([spread], [data], [np.ones(shape, np.float32)], [np.ones(np.broadcast_shapes(shape, target), np.float32)])


WIDE = {np.float32: [0, 0.5, -0.5, 1], np.int32: [0, 256, 65536, -1], np.int16: [0, 256, 1, -256], np.uint8: [0, 1, 255, 0]}


@pytest.mark.sampled(23)
@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("names", ["i32", "u8", "boolean", "f32", "i64", "u8 i32", "boolean i32", "i32 boolean", "f32 i64"])
@pytest.mark.parametrize("dtype", WIDE)
def test_non_zero_of_converted_numbers(dtype, names, is_read, agrees):
    x = np.array(WIDE[dtype], dtype)
    value, expected = (data := op.parameter([4], dtype)), x
    for name in names.split():
        value, expected = op.convert(value, name), expected.astype(getattr(ov.Type, name).to_dtype())
    outputs, results = ([value], [expected]) if is_read else ([], [])
    agrees([op.non_zero(value), *outputs], [data], [x], [np.array(np.nonzero(expected)), *results], rules=["OVG712"])


@pytest.mark.parametrize(
    ("least", "most", "to"),
    [(0, 255, "u8"), (0, 256, "u8"), (-255, 255, "i8"), (-256, 0, "u8"), (0, 65535, "i16"), (-65536, 65535, "u16")],
)
def test_non_zero_of_numbers_in_a_range(least, most, to, agrees):
    """Conversions to fewer bits make 0 of multiples of 2 to their number alone."""
    x, data = np.int32([least, most, 7]), op.parameter([3], np.int32)
    found = op.non_zero(op.convert(op.clamp(data, least, most), to))
    agrees([found], [data], [x], [np.array(np.nonzero(x.astype(getattr(ov.Type, to).to_dtype())))], rules=["OVG712"])


@pytest.mark.parametrize("returned", ["Gather(x, all)", "Identity(x)"])
def test_branches_of_strings(returned, tmp_path, agrees):
    """Only those that return what they were given end the process."""
    branches = ", ".join(
        f"{which} = {which[0]} () => (string[2] p) {{ all = Constant<value_ints = [0, 1]>() p = {returned} }}"
        for which in ("then_branch", "else_branch")
    )
    text = f'<ir_version: 8, opset_import: ["" : 18]> g (string[2] x, bool c) => (string[2] y) {{ y = If(c)<{branches}> }}'
    model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
    if returned == "Identity(x)":
        as_ir(model, tmp_path / "model.xml")
        assert validate(tmp_path / "model.xml", select=["OVG711"])
        return
    words = np.array(["a", "b" * 40])
    agrees(model, None, [words, np.array(True)], [words])


@pytest.mark.parametrize("part", range(3))
def test_parts_of_strings(part, agrees):
    """All are the first one."""
    words, data = np.array(["a", "b", "c"]), op.parameter([3], ov.Type.string)
    read = op.split(data, op.constant(0), 3).output(part)
    agrees([op.reshape(read, constant(1, 1), False)], [data], [words], [words[NEW, [part]]])


def _either(by, condition, start, limit):
    return by.select(condition, by.maximum(limit, start), by.minimum(limit, start))


def test_identity_of_computed_strings(agrees):
    """Only an Identity between an input and an output ends the process."""
    words, data = np.array(["a", "b", "c"]), op.parameter([3], ov.Type.string)
    agrees([opset16.identity(op.gather(data, constant(2, 0), op.constant(0)))], [data], [words], [words[[2, 0]]])


NUMPY = SimpleNamespace(maximum=np.maximum, minimum=np.minimum, greater=np.greater, less=np.less, select=np.where)
LIMITS = {
    "as given": lambda by, start, limit, step: limit,
    "maximum": lambda by, start, limit, step: by.maximum(limit, start),
    "minimum": lambda by, start, limit, step: by.minimum(start, limit),
    "at least 9": lambda by, start, limit, step: by.maximum(limit, np.int32(9)),
    "at most -9": lambda by, start, limit, step: by.minimum(limit, np.int32(-9)),
    "by sign": lambda by, start, limit, step: _either(by, by.greater(step, np.int32(0)), start, limit),
    "by opposite sign": lambda by, start, limit, step: _either(by, by.less(step, np.int32(0)), start, limit),
    "by another number": lambda by, start, limit, step: _either(by, by.greater(step, np.int32(1)), start, limit),
    "by limit": lambda by, start, limit, step: _either(by, by.greater(step, limit), start, limit),
    "by start": lambda by, start, limit, step: _either(by, by.greater(start, np.int32(0)), start, limit),
}
"""Limits of a Range, computed by OpenVINO or NumPy."""


@pytest.mark.parametrize(
    ("limit", "steps"),
    [*product(LIMITS, ("size", "given")), *product(("as given", "maximum", "minimum", "at least 9", "at most -9"), (1, -1))],
)
def test_ranges(limit, steps, agrees):
    """Those whose step leads away from the limit for some inputs, of -9 to 9, are wrong; a size as a step is not negative."""
    inputs, feeds, outputs, expected = [], [], [], []

    def given(number):
        inputs.append(op.parameter([], np.int32))
        feeds.append(np.array(number, np.int32))
        return op.clamp(inputs[-1], -9, 9)

    steps_of = {"size": (1, 3), "given": (1, -1)}
    for (first, last), by in product([(-2, 5), (5, 2), (-9, -5), (-2, -5)], steps_of.get(steps, (steps,))):
        start, end = given(first), given(last)
        if steps == "size":
            inputs.append(op.parameter([ov.Dimension(1, 9)], np.int32))
            feeds.append(np.zeros(by, np.int32))
            step = op.squeeze(op.convert(op.shape_of(inputs[-1]), "i32"), constant(0))
        else:
            step = never_zero(given(by)) if steps == "given" else op.constant(np.int32(by))
        outputs.append(op.range(start, LIMITS[limit](op, start, end, step), step, "i32"))
        expected.append(np.arange(first, LIMITS[limit](NUMPY, first, last, by), by))
    agrees(outputs, inputs, feeds, expected, rules=["OVG712"])


def never_zero(step):
    """A step, or 1 for 0."""
    return op.add(step, op.convert(op.equal(step, op.constant(np.int32(0))), "i32"))


@pytest.mark.parametrize(("low", "high", "noted"), [(-9, 9, True), (0, 9, True), (-9, 0, True), (1, 9, False), (-9, -1, False)])
def test_ranges_by_zero(low, high, noted, tmp_path):
    """A step that may be 0 is noted; a repaired Range has no elements then, and all of them otherwise."""
    given = op.parameter([], np.int32)
    numbers = op.range(op.constant(np.int32(1)), op.constant(np.int32(7)), op.clamp(given, low, high), "i32")
    model = ov.Model([numbers], [given])
    as_ir(model, tmp_path / "model.xml")
    found = validate(tmp_path / "model.xml", target=RELEASES[-1], select=["OVG712"])
    assert any("step is 0" in one.message for one in found) is noted
    repair_faults(model)
    request = ov.compile_model(model, "CPU").create_infer_request()
    for step in (-2, 0, 3):
        request.start_async([np.array(step, np.int32)])
        request.wait()
        by = int(np.clip(step, low, high))
        assert request.get_output_tensor().data.tolist() == (list(range(1, 7, by)) if by else [])


def test_reshapes_of_open_sizes_stay(agrees):
    x, data = np.float32([5, 0, 0, 7]), op.parameter([-1], np.float32)
    row = op.reshape(op.split(data, op.constant(0), 2).output(1), constant(1, -1), False)
    agrees([op.convert(op.reshape(row, constant(-1), False), "boolean")], [data], [x], [x[2:].astype(bool)])


_END, _END_32 = 2**63 - 1, 2**31 - 1


@pytest.mark.parametrize("size", [-1, 4])
@pytest.mark.parametrize(
    ("starts", "stops", "steps", "dtype"),
    [
        *(((0, 0), (_END, _END), (1, 1), "i8"), ((0, 1), (_END, _END), (1, 1), "i8"), ((0, 0), (_END, 1), (1, 1), "i8")),
        *(((0, 0), (_END, _END), (1, 2), "i8"), ((0, -1), (_END, -9), (1, -1), "i8"), ((0, 0), (_END, _END_32), (1, 1), "i8")),
        *(((0, 0), (_END_32, _END_32), (1, 1), "i4"), ((0, 0), (_END_32, _END_32 - 1), (1, 1), "i4")),
    ],
)
def test_slices(starts, stops, steps, dtype, size, agrees):
    """Only those of all elements are removed, whose sizes may be open; the end is the greatest number of the type."""
    x, data = np.arange(16, dtype=np.float32).reshape(4, 4) % 3, op.parameter([size, size], np.float32)
    bounds = (constant(*each, dtype=dtype) for each in (starts, stops, steps))
    half = op.slice(op.split(data, op.constant(0), 2).output(1), *bounds)
    expected = x[2:][tuple(map(slice, starts, stops, steps))].astype(bool)
    agrees([op.convert(half, "boolean")], [data], [x], [expected])


@pytest.mark.parametrize("condition", ["Identity(c)", "Not(c)", "Equal(rank, two)", "Not(same)", "And(same, c)"])
def test_branches_of_other_ranks_in_a_branch(condition, tmp_path):
    """OpenVINO drops a branch that is never taken, with what it would refuse, if it computes the condition from the rank."""
    ranks = "then_branch = a () => (float p) { p = Unsqueeze(x, zero) }, else_branch = b () => (float q) { q = Relu(x) }"
    both = f"then_branch = d () => (float p) {{ r = If(c)<{ranks}> p = ReduceSum<keepdims = 0>(r) }}"
    text = f"""<ir_version: 8, opset_import: ["" : 18]> g (float[N,M] x, bool c) => (float y)
        <int64[1] zero = {{0}}, int64 two = {{2}}> {{
        sizes = Shape(x) rank = Size(sizes) same = Equal(rank, two) chosen = {condition}
        y = If(chosen)<{both}, else_branch = e () => (float q) {{ q = ReduceSum<keepdims = 0>(x) }}> }}"""
    model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
    as_ir(model, tmp_path / "model.xml")
    warned = validate(tmp_path / "model.xml", select=["OVG711"])
    assert bool(warned) is (condition != "Not(same)")
    with pytest.raises(RuntimeError, match="dynamic rank") if warned else nullcontext():
        ov.compile_model(model, "CPU")


@pytest.mark.parametrize("sizes", [[3, 4], [3, -1]], ids=["static", "open"])
@pytest.mark.parametrize("computed", [("axes",), ("start", "axes"), ("step", "axes"), ("start",), ()], ids="+".join)
def test_slice_of_computed_axes(computed, sizes, tmp_path):
    """The process ends if the axes alone are computed, and the shape of data is static."""
    x, given = op.parameter(sizes, np.float32), {"start": 1, "stop": 3, "step": 1, "axes": 1}
    inputs = {name: op.parameter([1], np.int64) if name in computed else constant(each) for name, each in given.items()}
    model = ov.Model([op.slice(x, *inputs.values())], [x, *(inputs[name] for name in computed)], "model")
    as_ir(model, tmp_path / "model.xml")
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    with borrowed(["openvino"]) as (runtime,):
        found = runtime.run(tmp_path / "model.xml", [data, *(np.array([given[name]]) for name in computed)])
    is_fatal = isinstance(found, CrashedError)
    assert is_fatal or np.array_equal(found[0], data[:, 1:3])
    assert [finding.rule for finding in validate(tmp_path / "model.xml")] == ["OVG711"] * is_fatal


DTYPES = {"u8": np.uint8, "i8": np.int8, "i32": np.int32}


@pytest.mark.parametrize(
    "different",
    [
        *({}, {"kind": "i8"}, {"weights": "u8"}, {"zero": None}, {"zero": 0}, {"kind": "i32"}, {"weights": "i32"}),
        *({"scale": None}, {"scale_of_weights": None}, {"levels": 16}, {"levels": 254}, {"factor": 3}, {"factor": "computed"}),
    ],
    ids=str,
)
def test_gather_of_a_quantised_product(different, tmp_path):
    """The process ends if bytes are multiplied by constant ones, and have a zero point, while low precision is in use."""
    form = {"kind": "u8", "weights": "i8", "zero": 120, "scale": 0.02, "scale_of_weights": 0.02, "levels": 256}
    form |= {"factor": None} | different

    def real(value, zero, scale):
        value = op.convert(value, "f32")
        value = value if zero is None else op.subtract(value, op.constant(np.float32(zero)))
        return value if scale is None else op.multiply(value, op.constant(np.float32(scale)))

    data, other = op.parameter([16, 32], DTYPES[form["kind"]]), op.parameter([4], np.float32)
    stored = np.random.default_rng(0).integers(0, 127, (32, 32)).astype(DTYPES[form["weights"]])
    weights = real(op.constant(stored), None, form["scale_of_weights"])
    product = op.matmul(real(data, form["zero"], form["scale"]), weights, False, False)
    low, high = op.constant(np.float32(-3)), op.constant(np.float32(3))
    if form["factor"]:
        product = op.multiply(product, high if form["factor"] == 3 else op.reduce_sum(other, constant(0)))
    rounded = op.fake_quantize(other, low, high, low, high, form["levels"])
    model = ov.Model([op.gather(product, constant(0, 5), op.constant(0)), rounded], [data, other], "model")
    as_ir(model, tmp_path / "model.xml")
    with borrowed(["openvino"]) as (runtime,):
        found = runtime.run(tmp_path / "model.xml", [np.ones((16, 32), DTYPES[form["kind"]]), np.zeros(4, np.float32)])
    assert isinstance(found, (list, CrashedError))
    warned = [finding.rule for finding in validate(tmp_path / "model.xml", select=["OVG711"])]
    assert warned == ["OVG711"] * isinstance(found, CrashedError)


@pytest.mark.parametrize(
    ("before", "window", "strides", "pads", "noted"),
    [
        ("Relu (x)", 1, (2, 2), (1, 1, 1, 1), True),
        ("Relu (x)", 1, (1, 3), (0, 0, 0, 2), True),
        ("Conv (x, w)", 1, (2, 2), (0, 1, 0, 1), True),
        ("Relu (x)", 1, (2, 2), (0, 0, 0, 0), False),
        ("Relu (x)", 1, (1, 1), (1, 1, 1, 1), False),
        ("Relu (x)", 1, (1, 2), (1, 0, 1, 0), False),
        ("Relu (x)", 2, (2, 2), (1, 1, 1, 1), False),
        ("Transpose <perm = [0, 1, 3, 2]> (x)", 1, (2, 2), (1, 1, 1, 1), False),
    ],
)
@pytest.mark.parametrize("apart", [False, True], ids=["pads", "Pad"])
def test_strides_of_padding(before, window, strides, pads, noted, apart):
    """A convolution of windows of one element is exact after the repair, whether it pads or a Pad before it does."""
    around, steps = ", ".join(map(str, pads)), ", ".join(map(str, strides))
    inner = f"y = Conv <strides = [{steps}], pads = [{around}]> (b, f)"
    if apart:
        inner = f"p = Pad (b, around) y = Conv <strides = [{steps}]> (p, f)"
    text = f"(float[1,2,5,7] x) => (float[1,3,m,n] y) {{ b = {before} {inner} }}"
    shapes = (2, 2, 1, 1), (3, 2, window, window), (1, 2, 5, 7)
    w, f, x = (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 5 - 1 for shape in shapes)
    proto = parsed(text, 18, around=[0, 0, *pads[:2], 0, 0, *pads[2:]], w=w, f=f)
    expected = onnx.reference.ReferenceEvaluator(proto).run(None, {"x": x})[0]
    model = ov.Core().read_model(proto.SerializeToString())
    repaired, left = repair_faults(model)
    assert [bool(repaired), bool(left)] == [noted, False]
    found = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([x])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)

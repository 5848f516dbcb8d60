"""A pattern of a known fault is reported if, and only if, OpenVINO computes another result than NumPy or onnxruntime."""

from contextlib import nullcontext
from itertools import permutations, product

import numpy as np
import onnx.parser
import onnxruntime
import openvino as ov
import pytest
from openvino import opset13 as op

from helpers.known_faults import as_ir
from helpers.known_patterns import constant
from ov_gather import validate

pytestmark = pytest.mark.onnxruntime
NEW = np.newaxis


FOLDED = {
    "constant": lambda t: op.constant(np.array([-3, 4], t)),
    "negative": lambda t: op.negative(op.constant(np.array([3, -4], t))),
    "positive": lambda t: op.multiply(op.constant(np.array([3, 4], t)), op.constant(np.array([1, 2], t))),
    "clamp": lambda t: op.clamp(op.constant(np.array([-7, -2], t)), -3, -1),
    "clamp to positive": lambda t: op.clamp(op.constant(np.array([-7, 2], t)), 1, 3),
    "convert": lambda t: op.convert(op.constant(np.array([-3, 4], np.int16)), ov.Type(t)),
    "reshape": lambda t: op.reshape(op.constant(np.array([[-3, 4]], t)), constant(2), False),
    "concat": lambda t: op.concat([op.constant(np.array([one], t)) for one in (-3, 4)], 0),
    "gather": lambda t: op.gather(op.constant(np.array([-3, 4, 5], t)), constant(0, 1), op.constant(0)),
    "matrix": lambda t: op.negative(op.constant(np.array([[3, -4]], t))),
}


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.int8, np.float64])
@pytest.mark.parametrize("name", FOLDED)
def test_abs_of_constants(name, dtype, agrees):
    x = op.parameter([2], dtype)
    value = FOLDED[name](dtype)
    expected = np.abs({"positive": [3, 8], "clamp": [-3, -1], "clamp to positive": [1, 2]}.get(name, [-3, 4]))
    expected = [-3, -2] if name == "clamp" else expected
    shape = tuple(value.get_output_shape(0))
    agrees([op.add(x, op.abs(value))], [x], [np.zeros(2, dtype)], [np.abs(expected).reshape(shape).astype(dtype)])


@pytest.mark.parametrize("is_open", [False, True])
def test_abs_of_sizes(is_open, agrees):
    x, y = op.parameter([-1 if is_open else 2, 3], np.float32), op.parameter([2], np.float32)
    sizes = op.convert(op.shape_of(x), "f32")
    feeds, zeros = [np.zeros((2, 3), np.float32), np.zeros(2, np.float32)], [np.float32([2, 3])]
    agrees([op.add(y, op.abs(op.negative(sizes)))], [x, y], feeds, zeros)
    agrees([op.add(y, op.abs(op.multiply(sizes, sizes)))], [x, y], feeds, [np.float32([4, 9])])
    agrees([op.add(y, op.abs(op.floor(op.divide(sizes, sizes))))], [x, y], feeds, [np.float32([1, 1])])


VIEWS = {
    "none": lambda both: both,
    "vector": lambda both: op.reshape(both, constant(-1), False),
    "matrix": lambda both: op.reshape(both, constant(-1, 1), False),
    "there and back": lambda both: op.squeeze(op.unsqueeze(both, constant(0)), constant(0)),
    "twice": lambda both: op.concat([both, both], 0),
    "negative": lambda both: op.negative(both),
}


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


VIEWS_OF_NUMPY = {
    "none": lambda both: both,
    "vector": lambda both: both,
    "matrix": lambda both: both[:, NEW],
    "there and back": lambda both: both,
    "twice": lambda both: np.concatenate([both, both]),
    "negative": lambda both: -both,
}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(4, 3, 5), (4, 1, 5), (1, 3, 5), (2, 3, 4, 5)])
def test_gather_of_constants_before_matmul(shape, transposed, rng, agrees):
    data, indices = rng.standard_normal(shape, np.float32), rng.integers(0, shape[0], shape)
    for order in permutations(range(len(shape))):
        right = np.take_along_axis(data, indices, 0).transpose(order)
        right = right.swapaxes(-1, -2) if transposed else right
        x = rng.standard_normal((*right.shape[:-2], 2, right.shape[-2]), np.float32)
        left = op.parameter(x.shape, np.float32)
        moved = op.transpose(op.gather_elements(op.constant(data), op.constant(indices), 0), constant(*order))
        agrees([op.matmul(left, moved, False, transposed)], [left], [x], [x @ right])


@pytest.mark.parametrize("repeats", [*product((1, None, 3), repeat=4)])
def test_tile(repeats, agrees):
    """A repeat is a constant, or a size of the input (None)."""
    x = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
    data = op.parameter([-1] * 4, np.float32)
    sizes = op.shape_of(data)
    parts = [op.gather(sizes, constant(i), op.constant(0)) if n is None else constant(n) for i, n in enumerate(repeats)]
    times = [2 if n is None else n for n in repeats]
    agrees([op.tile(data, op.concat(parts, 0))], [data], [x], [np.tile(x, times)])


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


@pytest.mark.parametrize("to", ["boolean", "i32", "u8"])
@pytest.mark.parametrize("part", [0, 1])
def test_convert_of_another_output(part, to, agrees):
    x = np.float32([5, 0, 0, 7])
    data = op.parameter([4], np.float32)
    half = op.split(data, op.constant(0), 2).output(part)
    dtype = {"boolean": bool, "i32": np.int32, "u8": np.uint8}[to]
    agrees([op.convert(half, to)], [data], [x], [np.split(x, 2)[part].astype(dtype)])


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("kind", ["TopK", "VariadicSplit"])
@pytest.mark.parametrize("to", ["boolean", "u8"])
def test_convert_of_an_output_that_is_no_default(to, kind, part, tmp_path):
    """OpenVINO refuses what is warned of."""
    data = op.parameter([4], np.float32)
    both = op.topk(data, op.constant(np.int32(2)), 0, "max", "value") if kind == "TopK" else None
    both = both or op.variadic_split(data, op.constant(0), constant(2, 2))
    model = ov.Model([op.convert(both.output(part), to)], [data])
    as_ir(model, tmp_path / "model.xml")
    warned = validate(tmp_path / "model.xml", select=["OVG711"])
    assert bool(warned) is (to == "boolean")
    with pytest.raises(RuntimeError, match="Default output") if warned else nullcontext():
        ov.compile_model(model, "CPU")


@pytest.mark.parametrize("mode", ["NUMPY", "BIDIRECTIONAL"])
@pytest.mark.parametrize(("shape", "target"), [([1, 1], [0, 4]), ([1, 4], [0, 1]), ([1], [3, 0]), ([1, 1], [2, 4])])
def test_broadcast_to_no_elements(shape, target, mode, agrees):
    if mode == "NUMPY" and target == [0, 1]:
        return  # 4 is not broadcast to 1
    data = op.parameter(shape, np.float32)
    spread = op.broadcast(data, constant(*target), broadcast_spec=mode)
    agrees([spread], [data], [np.ones(shape, np.float32)], [np.ones(np.broadcast_shapes(shape, target), np.float32)])


@pytest.mark.parametrize("value", [16_777_216, 16_777_217, -16_777_217, 33_554_434, 2**31 - 1])
@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_pad(value, mode, agrees):
    x = np.array([1, 2], np.int32)
    data = op.parameter([2], np.int32)
    padded = op.pad(data, constant(1), constant(1), mode, op.constant(np.int32(value)))
    agrees([padded], [data], [x], [np.pad(x, 1, mode, **({"constant_values": value} if mode == "constant" else {}))])


@pytest.mark.parametrize("size", [2, -1])
@pytest.mark.parametrize("value", ["constant", "converted", "input", "computed", "size"])
@pytest.mark.parametrize("first", [[1, 0], [0, 0], [-1, 0], "static sizes", "input"])
@pytest.mark.parametrize("last", [[0, 0], [0, 1], [0, -1]])
def test_value_of_pad(last, first, value, size, agrees):
    x, number, rows = np.int32([[1, 2], [3, 4]]), np.array(2, np.int32), np.array([1, 0])
    data, given, widths = op.parameter([size, 2], np.int32), op.parameter([], np.int32), op.parameter([2], np.int64)
    of = {
        "constant": op.constant(number),
        "converted": op.convert(op.constant(np.int8(2)), "i32"),
        "input": given,
        "computed": op.add(given, op.constant(np.int32(0))),
        "size": op.convert(op.gather(op.shape_of(data), op.constant(0), op.constant(0)), "i32"),
    }[value]
    known = {"static sizes": (op.gather(op.shape_of(widths), constant(0, 0), op.constant(0)), [2, 2]), "input": (widths, rows)}
    before, begin = known[first] if isinstance(first, str) else (constant(*first), first)
    padded = op.pad(data, before, constant(*last), "constant", of)
    ends = [(max(0, begin[0]), 0), (max(0, begin[1]), max(0, last[1]))]
    expected = np.pad(x[max(0, -begin[0]) :, : 2 + min(0, last[1])], ends, constant_values=2)
    others = [op.add(given, given), op.add(widths, widths)]
    agrees([padded, *others], [data, given, widths], [x, number, rows], [expected, number * 2, rows * 2])


WIDE = {np.float32: [0, 0.5, -0.5, 1], np.int32: [0, 256, 65536, -1], np.int16: [0, 256, 1, -256], np.uint8: [0, 1, 255, 0]}


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


@pytest.mark.parametrize("value", [2**31 - 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_large_unsigned_constants(value, dtype, agrees):
    x = np.zeros(1, dtype)
    data = op.parameter([1], dtype)
    agrees([op.concat([data, op.constant(np.array([value], dtype))], 0)], [data], [x], [np.array([0, value], dtype)])


def of_onnx(text):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}').SerializeToString()
    return ov.Core().read_model(model), onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


SCANS = [
    "next = Add(state, element) seen = Identity(next)",
    "next = Add(element, state) seen = Identity(next)",
    "more = Add(element, one) next = Add(state, more) seen = Identity(next)",
    "more = Mul(element, one) next = Sub(state, more) seen = Identity(next)",
    "more = Tanh(element) next = Add(state, more) seen = Identity(next)",
    "more = Add(state, one) next = Add(more, element) seen = Identity(next)",
    "more = Add(element, state) next = Tanh(more) seen = Identity(next)",
    *(
        f"more = Add(element, state) next = {unary}(more) seen = Identity(next)"
        for unary in ("Abs", "Exp", "Neg", "Relu", "Sigmoid")
    ),
    "next = Max(element, state) seen = Identity(next)",
    "next = Sub(element, state) seen = Identity(next)",
    "a = Mul(state, one) b = Mul(element, one) next = Add(a, b) seen = Identity(next)",
    "a = Mul(state, one) b = Mul(element, one) next = Add(b, a) seen = Identity(next)",
    "next = Identity(element) seen = Identity(state)",
    "next = Identity(element) seen = Add(state, element)",
    "next = Neg(element) seen = Identity(state)",
    "next = Add(element, one) seen = Identity(state)",
    "next = Identity(element) seen = Identity(one)",
    "next = Identity(state) seen = Add(state, element)",
    "next = Add(state, state) seen = Identity(next)",
    "next = Identity(state) seen = Identity(one)",
]


@pytest.mark.parametrize("body", SCANS)
def test_states_of_scans(body, agrees):
    text = f"""g (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {{
        last, all = Scan<num_scan_inputs = 1, body = b (float[2] state, float[2] element) => (float[2] next, float[2] seen) {{
            one = Constant<value = float[2] {{1, 2}}>() {body}
        }}>(s, x)
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([0.7, 0.8]), "x": np.arange(-2, 4, dtype=np.float32).reshape(3, 2) / 10}
    agrees(model, None, [feed["s"], feed["x"]], session.run(None, feed))


LOOPS = [
    "u = Add(a, b) v = Identity(a)",
    "u = Add(a, b) v = Reshape(a, flat)",
    "u = Add(a, b) v = Neg(a)",
    "u = Identity(b) v = Identity(a)",
    "u = Reshape(b, flat) v = Reshape(a, flat)",
    "v = Add(a, b) u = Reshape(b, flat)",
    "u = Identity(a) v = Reshape(a, flat)",
]


@pytest.mark.parametrize("body", LOOPS)
def test_states_of_loops(body, agrees):
    text = f"""g (float[2] s, float[2] t, int64 n, bool on) => (float[2] y, float[2] z) {{
        y, z = Loop(n, on, s, t)<body = c (int64 i, bool go, float[2] a, float[2] b) => (bool still, float[2] u, float[2] v) {{
            still = Identity(go) flat = Constant<value_ints = [-1]>() {body}
        }}>
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([1, 2]), "t": np.float32([3, 5]), "n": np.array(3), "on": np.array(True)}
    agrees(model, None, list(feed.values()), session.run(None, feed))

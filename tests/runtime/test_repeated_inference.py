"""What later inferences compute otherwise, of constants or without iterations: found, never proved, and repaired."""

import numpy as np
import onnxruntime
import openvino as ov
import pytest
from openvino import opset13 as op

from helpers.known_faults import as_ir
from helpers.saved_models import parsed
from ov_gather import prove, validate
from ov_gather.converters import compile_onnx
from ov_gather.converters.repairs import repair_faults

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
X = [np.int32([5, 0, 7]), np.int32([1, 2, 3]), np.int32([-4, 9, 0])]
ZERO = op.constant(np.int32(0))


def total(numbers=(1, 2, 3), kind=np.int32):
    return op.cum_sum(op.constant(np.array(numbers, kind)), ZERO)


def picked(numbers=(1, 2, 3), kind=np.float32):
    return op.gather_elements(op.constant(np.array(numbers, kind)), op.constant(np.int32([2, 1, 0])), 0)


def or_of(x):
    sums = total()
    return op.logical_not(op.logical_or(op.less(sums, op.constant(np.int32(2))), op.less(sums, x)))


def reader_of(x):
    sums = total()
    return op.concat([op.add(sums, x), sums], 0)


FORMS = {
    "add": (lambda x: op.add(total(), x), True),
    "second operand": (lambda x: op.add(x, total()), False),
    "two readers": (reader_of, False),
    "logic": (or_of, True),
    "of floats": (lambda x: op.add(picked(), op.convert(x, "f32")), True),
    "folded": (lambda x: op.add(total((1, 2, 3), np.float32), op.convert(x, "f32")), False),
    "of halves": (lambda x: op.add(picked((1, 2, 3), np.float16), op.convert(x, "f16")), False),
    "converted": (lambda x: op.add(op.convert(picked((1, 2, 3), np.float16), "f32"), op.convert(x, "f32")), True),
    "behind views": (lambda x: op.add(op.unsqueeze(total(), op.constant([0])), x), True),
    "behind arithmetic": (lambda x: op.multiply(op.add(total(), op.constant(np.int32(4))), x), True),
    "of another type": (lambda x: op.less(total(), x), False),
    "of another shape": (lambda x: op.add(total(), op.unsqueeze(x, op.constant([1]))), False),
    "of constants alone": (lambda x: op.concat([op.add(total(), op.constant(np.int32(1))), x], 0), False),
    "of bits": (lambda x: op.add(op.bitwise_and(op.constant(np.int32([1, 2, 3])), op.constant(np.int32(3))), x), True),
}


def results(model):
    """The result of each inference of one compiled model, and that of a model of its own."""
    several = ov.Core().compile_model(model, "CPU", EXACT)
    for x in X:
        alone = ov.Core().compile_model(model, "CPU", EXACT)
        yield tuple(compiled([x])[0].copy() for compiled in (several, alone))


@pytest.mark.parametrize("name", FORMS)
def test_found_if_and_only_if_later_inferences_differ(name, tmp_path):
    build, is_wrong = FORMS[name]
    x = op.parameter([3], np.int32)
    model = ov.Model([build(x)], [x])
    assert is_wrong is not all(np.array_equal(*pair) for pair in results(model))
    as_ir(model, tmp_path / "model.xml")
    assert bool(validate(tmp_path / "model.xml", select=["OVG710"])) is is_wrong
    expected = [alone for _, alone in results(model)]
    repair_faults(model)
    assert all(np.array_equal(found, alone) for (found, _), alone in zip(results(model), expected, strict=True))


def test_in_a_loop():
    """A body is executed again and again, too: y = 10 + 10 + ... in each iteration."""
    given = op.parameter([3], np.int32)
    body = ov.Model([op.add(total((1, 1, 1)), given), op.constant(np.array(True))], [given])
    x, loop = op.parameter([3], np.int32), op.loop(op.constant(4), op.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_invariant_input(given, x.output(0))
    model = ov.Model([loop.get_iter_value(body.get_results()[0].output(0), -1)], [x])
    assert not np.array_equal(ov.Core().compile_model(model, "CPU", EXACT)([X[0]])[0], np.add([1, 2, 3], X[0]))
    assert repair_faults(model)[0]
    for numbers in X:
        np.testing.assert_array_equal(ov.Core().compile_model(model, "CPU", EXACT)([numbers])[0], np.add([1, 2, 3], numbers))


@pytest.mark.parametrize(("swapped", "status"), [(False, "unknown"), (True, "proved")])
def test_indices_behind_are_not_proved(swapped, status, tmp_path):
    """Indices of 0..2 and 1..3 lie in an axis of 6, unless they are written over."""
    x = op.parameter([3], np.int32)
    first, second = op.clamp(x, 0, 2), total((1, 1, 1))
    index = op.add(first, second) if swapped else op.add(second, first)
    data = op.parameter([6], np.float32)
    as_ir(ov.Model([op.gather(data, index, ZERO)], [x, data]), tmp_path / "model.xml")
    (site,) = prove(tmp_path / "model.xml")
    assert site.status == status


@pytest.mark.parametrize(("swapped", "status"), [(False, "unknown"), (True, "proved")])
def test_conditions_behind_are_not_believed(swapped, status, tmp_path):
    """Select(not (one < 0 or x > 0), one + 1, 0) is at least 0, unless the condition is written over a comparison of `one`."""
    x, data = op.parameter([3], np.int32), op.parameter([20], np.float32)
    one = picked((9, 3, -50), np.int32)
    parts = op.less(one, ZERO), op.greater(x, ZERO)
    is_outside = op.logical_or(*(reversed(parts) if swapped else parts))
    index = op.select(op.logical_not(is_outside), op.add(one, op.constant(np.int32(1))), ZERO)
    compiled = ov.Core().compile_model(ov.Model([index], [x]), "CPU", EXACT)
    found = [compiled([np.int32([0, 0, 0])])[0].tolist() for _ in range(2)]
    assert found == [[0, 4, 10], [0, 4, 10] if swapped else [-49, 0, 0]]
    as_ir(ov.Model([op.gather(data, index, ZERO)], [x, data]), tmp_path / "model.xml")
    assert prove(tmp_path / "model.xml")[-1].status == status


def test_sizes_vary_between_inferences(tmp_path):
    """Minimum(CumSum([1, 1, 1]), size) keeps the least size so far; of constants alone it stays what it is."""
    x, data = op.parameter([-1], np.int32), op.parameter([6], np.float32)
    size = op.squeeze(op.shape_of(x, "i32"), op.constant([0]))
    for limit, status in ((size, "unknown"), (op.constant(np.int32(2)), "proved")):
        index = op.minimum(total((1, 1, 1)), limit)
        as_ir(ov.Model([op.gather(data, index, ZERO)], [x, data]), tmp_path / "model.xml")
        (site,) = prove(tmp_path / "model.xml")
        assert site.status == status


JOINED = """y, z = Loop(trips, on, x)<body = step (int64 i, bool go, float[2] state) =>
    (bool still, float[2] next, float[2] row) { still = Identity(go) next = Add(state, state) row = Neg(state) }>"""
LOOPS = {
    "trips": f"(float[2] x, int64 trips) => (float[2] y, float[n, 2] z) {{ on = Constant<value = bool {{1}}>() {JOINED} }}",
    "condition": f"(float[2] x, bool on) => (float[2] y, float[n, 2] z) {{ trips = Constant<value_int = 3>() {JOINED} }}",
    "behind": f"(float[2] x, int64 trips, bool on) => (float[2] y, float[n, 2] w) {{ {JOINED} w = Neg(z) }}",
    "in a body": f"""(float[2] x, int64[4] each) => (float[2] last, float[4, 1, 2] sums) {{
        four = Constant<value_int = 4>() yes = Constant<value = bool {{1}}>()
        last, sums = Loop(four, yes, x)<body = outer (int64 k, bool c, float[2] s) =>
            (bool d, float[2] t, float[1, 2] w) {{
            d = Identity(c) t = Identity(s) trips = Gather(each, k) on = Constant<value = bool {{1}}>() {JOINED}
            axis = Constant<value_ints = [0]>() w = ReduceSum(z, axis)
        }}>
    }}""",
}


@pytest.mark.onnxruntime
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_without_an_iteration_joins_nothing(name):
    """OpenVINO returns what it has joined in the inference, or the iteration, before."""
    model = parsed(LOOPS[name])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    compiled, outputs = compile_onnx(model), [one.name for one in session.get_outputs()]
    for trips in (3, 0, 2, 0):
        feed = {
            "x": np.float32([1, 2]),
            "trips": np.array(trips),
            "on": np.array(trips > 0),
            "each": np.array([trips, 0, 1, 0]),
        }
        feed = {one.name: feed[one.name] for one in session.get_inputs()}
        found, expected = compiled(feed), session.run(None, feed)
        assert [found[one].tolist() for one in outputs] == [array.tolist() for array in expected]
        assert [found[one].shape for one in outputs] == [array.shape for array in expected]

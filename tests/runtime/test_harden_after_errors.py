"""The request after one that a hardened model refuses: OpenVINO keeps sizes of an inference that raises in between.

See tests/tools/upstream/faults/sizes_after_an_error.py. The expected outputs are those of a compiled model that never fails.
"""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.openvino_models import named

pytestmark = pytest.mark.openvino
TABLE = np.arange(20, dtype=np.float32).reshape(5, 4)


def rows(ids, x):
    return ops.add(ops.reduce_sum(ops.gather(TABLE, ids, 0), [1]), ops.softmax(x, -1))


def rows_of_static_ids(ids, x):
    return ops.add(ops.reduce_sum(ops.gather(TABLE, ids, 0), [0, 1]), ops.softmax(x, -1))


def late_rows(ids, x):
    nothing = ops.reduce_sum(ops.multiply(ops.softmax(x, -1), np.float32(0)), [1], True)
    return ops.gather(TABLE, ops.add(ids, ops.convert(nothing, "i32")), 0)


def elements(ids, x):
    return ops.gather_elements(x, ids, 1)


def scattered(ids, x):
    return ops.scatter_elements_update(x, ids, ops.convert(ids, "f32"), 1, "sum")


def updated(ids, x):
    last, ones = ops.gather(ids, 2, 1), ops.broadcast(np.float32(1), ops.shape_of(x))
    return ops.add(ops.scatter_update(np.zeros((70, 4), np.float32), last, ones, 0), np.float32(1))


def tuples(ids, x):
    spread = ops.scatter_nd_update(np.zeros(5, np.float32), ops.unsqueeze(ids, 2), ops.convert(ids, "f32"))
    return ops.add(spread, ops.reduce_sum(ops.gather_nd(TABLE, ops.unsqueeze(ids, 2)), [1, 2], True))


def columns(ids, x):
    return ops.concat(
        [*(ops.gather(TABLE[:size], ops.gather(ids, column, 1), 0) for column, size in enumerate((3, 4, 5))), x], 1
    )


def in_a_body(ids, x, *, is_static=False):
    condition = ops.greater(ops.reduce_sum(ids, [0, 1]), np.int32(-100))
    bodies = []
    for sign in (1, 0):
        given = ops.parameter(ids.get_output_partial_shape(0), np.int32)
        taken = ops.exp(ops.gather(TABLE, ops.multiply(given, np.int32(sign)), 0))
        bodies.append((ov.Model([ops.result(ops.reduce_sum(taken, [0, 1]) if is_static else taken)], [given]), given))
    choice = ops.if_op(condition.output(0))
    (then, one), (other, two) = bodies
    choice.set_then_body(then)
    choice.set_else_body(other)
    choice.set_input(ids.output(0), one, two)
    return ops.softmax(choice.set_output(then.results[0], other.results[0]), -1)


MODELS = {
    **{one.__name__: one for one in (rows, late_rows, elements, scattered, updated, tuples, columns, in_a_body)},
    "static": rows_of_static_ids,
    "body_static": lambda ids, x: ops.add(in_a_body(ids, x, is_static=True), x),
}


def infer(request, ids, size):
    x = (np.arange(4 * size, dtype=np.float32) / 7).reshape(size, 4)
    request.start_async({"ids": np.array(ids, np.int32), "x": x})
    request.wait()
    return [tensor.data.copy() for tensor in request.output_tensors]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_request_after_an_error_is_right(name, portable, threads):
    ids, x = named("ids", "i32[1,3]" if name == "static" else "i32[?,3]"), named("x", "f32[?,4]")
    model = ov.Model([ops.result(ops.relu(MODELS[name](ids, x))), ops.result(ops.softmax(ops.exp(x), -1))], [ids, x], "model")
    ov_gather.harden(model, portable=portable)
    core = ov_gather.register(ov.Core())
    compiled = (core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": threads}) for _ in range(2))
    request, other = (one.create_infer_request() for one in compiled)

    def given(size, last=1):
        return [[0, 2, last]] * (1 if name == "static" else size)

    for before, failed in ((1, 2), (3, 1)):
        infer(request, given(before), before)
        with pytest.raises(RuntimeError):
            infer(request, given(failed, 99), failed)
        for size in (before, failed, before):
            for found, right in zip(infer(request, given(size), size), infer(other, given(size), size), strict=True):
                np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("policy", ["raise", "clamp", "zero"])
def test_the_request_after_an_empty_axis_is_right(policy):
    ids, x = named("ids", "i32[?]"), named("x", "f32[?,4]")
    taken = ops.add(ops.gather(x, ids, 0), ops.gather(x, np.array([0]), 0))
    model = ov.Model([ops.result(ops.relu(taken)), ops.result(ops.exp(x))], [ids, x], "model")
    ov_gather.harden(model, policy=policy)
    core = ov_gather.register(ov.Core())
    request, other = (core.compile_model(model, "CPU").create_infer_request() for _ in range(2))
    infer(request, [0], 2)
    with pytest.raises(RuntimeError):
        infer(request, [0, 0], 0)
    for size in (2, 1, 2):
        for found, right in zip(infer(request, [0], size), infer(other, [0], size), strict=True):
            np.testing.assert_array_equal(found, right)

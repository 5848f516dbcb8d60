"""`accelerate`: Transposes behind our GatherElements."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.accelerating import (
    ROWS,
    accelerated,
    check_accelerated,
    check_raises,
    check_same,
    check_stays,
    model_of,
    operations,
    parameter,
    transpose,
)

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")


@pytest.mark.parametrize(
    ("shape", "index", "axis"), [([7, 5, 6], [9, 5, 6], 0), ([7, 5], [7, 9], -1), ([2, 3, 4, 5], [2, 3, 9, 5], 2)]
)
def test_a_transpose_behind_ours_is_absorbed(shape, index, axis, rng):
    turned = transpose(ops.gather_elements(parameter("data", shape), parameter("i", index, np.int64), axis))
    turned.set_friendly_name("turned")
    turned.output(0).set_names({"names of", "its tensor"})
    model = model_of(turned)
    arrays = [rng.random(shape, np.float32), rng.integers(-shape[axis], shape[axis], index)]
    other, summary = check_accelerated(model, arrays, operators=["ov_gather.GatherElements"])
    assert summary.changes[0].done[-1] == "and the Transpose behind it"
    result = other.get_results()[0].input_value(0)
    assert (result.get_node().get_friendly_name(), result.get_names()) == ("turned", {"names of", "its tensor"})
    assert not check_stays(other).changed
    arrays[1][(-1,) * len(index)] = shape[axis]
    check_raises(arrays, other, match=rf"indices\[{', '.join(str(size - 1) for size in index)}\]")


@pytest.mark.parametrize(
    ("behind", "reason"),
    [
        (lambda gather: [transpose(gather, [1, 0, 2])], ""),
        (lambda gather: [transpose(gather, [2, 1, 0])], ""),
        (lambda gather: [transpose(gather), gather], ""),
        (lambda gather: [transpose(gather), transpose(gather)], ""),
        (lambda gather: [ops.transpose(gather, parameter("order", [3], np.int64))], ""),
        (
            lambda gather: [ops.matmul(parameter("left", [7, 4, 6]), transpose(gather), False, False)],
            "the Transpose behind it is a part of a MatMul",
        ),
    ],
    ids=["others", "all three", "read before", "twice", "not constant", "MatMul"],
)
def test_which_transposes_are_not_absorbed(behind, reason):
    gather = ops.gather_elements(parameter("data", [7, 5, 6]), parameter("i", [7, 9, 6], np.int64), 1)
    model = model_of(*behind(gather))
    other, summary = accelerated(model)
    found = sorted(name.replace("GatherElements-6", "ov_gather.GatherElements") for name in operations(model))
    assert operations(other) == found
    assert summary.changes[0].reason == reason


def test_ours_with_a_transpose_is_not_taken_for_one_without():
    """The matrices are square, so that no shape tells the two apart."""
    index = ops.broadcast(parameter("i", [9, 1, 1], np.int64), ops.constant(np.array([9, 6, 6])))
    turned = transpose(ops.gather_elements(parameter("data", [7, 6, 6]), index, 0))
    arrays = [np.random.default_rng(0).random((7, 6, 6), np.float32), ROWS]
    for model in (model_of(turned), model_of(transpose(turned))):
        first, _ = accelerated(model, "replace-elements", "absorb-transposes")
        assert operations(first)[-1] == "ov_gather.GatherElements"
        check_same(model, accelerated(first)[0], arrays)


def test_a_transpose_of_unknown_rank_stays():
    """The Transpose tells the rank, which our operation would not."""
    data, index = parameter("data", ov.PartialShape.dynamic()), parameter("i", ov.PartialShape.dynamic(), np.int64)
    model = model_of(ops.transpose(ops.gather_elements(data, index, 1), ops.constant(np.array([0, 2, 1]))))
    other, _ = accelerated(model)
    assert sorted(operations(other)) == ["Transpose-1", "ov_gather.GatherElements"]
    other.validate_nodes_and_infer_types()
    assert str(other.output(0).partial_shape) == "[?,?,?]"

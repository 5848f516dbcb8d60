"""The gate before what passes write: a stock operation may have no known divergence that the replaced one does not have."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset3, opset7, opset8, opset12, opset15
from openvino import opset13 as ops

from ov_gather.acceleration.divergent import added_divergence
from ov_gather.acceleration.graph import ours


def given(shape, dtype=np.float32):
    return ops.parameter(ov.PartialShape(shape), dtype)


def gather(data, indices, batch_dims=0, axis=1):
    return opset8.gather(given(data), given(indices, np.int64), ops.constant(axis), batch_dims)


REPLACED = ops.gather_elements(given([2, 50]), given([2, 9], np.int64), 1)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (lambda: gather([1, 50], [1, 9], 1), "batches-of-one"),
        (lambda: gather([1, 50], [1, 9], -1), "batches-of-one"),
        (lambda: gather([1, 50, 4], [1, 9], 1), "batches-of-one"),
        (lambda: gather([1, 1, 50], [1, 1, 9], 2, 2), "batches-of-one"),
        (lambda: gather([-1, 50], [-1, 9], 1), "batches-of-one"),
        (lambda: gather(["1..3", 50], ["..3", 9], 1), "batches-of-one"),
        (lambda: gather([-1, -1], [-1, -1], 1), "batches-of-one"),
        (lambda: gather([1, 50], [9]), ""),
        (lambda: gather([2, 50], [2, 9], 1), ""),
        (lambda: gather([2, 50], [-1, 9], 1), ""),
        (lambda: gather(["2..3", 50], [-1, 9], 1), ""),
        (lambda: gather([1, 3, 50], [1, 3, 9], 2, 2), ""),
        (lambda: gather([-1, 50], [-1, -1]), ""),
        (lambda: opset7.gather(given([1, 50]), given([1, 9], np.int64), ops.constant(1), 1), "batches-of-one"),
        (lambda: gather([0, 50], [9]), "not-executed-when-empty"),
        (lambda: gather([-1, 50], [-1, 0]), "not-executed-when-empty"),
        (lambda: opset8.gather(given([50]), given([9], np.int64), given([], np.int64)), "no-open-axis"),
        (lambda: ops.gather_elements(given([2, 50], np.float16), given([2, 9], np.int64), 1), "quieted-nan"),
        (lambda: ops.relu(given([2, 50])), ""),
    ],
)
def test_gathers(written, expected):
    assert added_divergence(written(), REPLACED).partition(":")[0] == expected


def test_a_constant_axis_of_64_bits_is_not_narrowed():
    before = ops.gather_elements(given([2, 50]), given([2, 9], np.int32), 1)
    after = opset8.gather(given([2, 50]), given([9], np.int32), ops.constant(np.int64(1)))
    assert added_divergence(after, before) == ""


def test_what_the_replaced_operation_has_is_not_added():
    both = [ops.gather_elements(given([0, 5], np.float16), given([0, 3], np.int64), 1) for _ in range(2)]
    assert added_divergence(*both) == ""
    before = opset1.gather(given([0, 50]), given([0, 9], np.int64), ops.constant(1))
    assert added_divergence(gather([0, 50], [0, 9]), before) == ""


def test_a_gather_without_elements_crashes_and_gather_elements_does_not():
    before = ops.gather_elements(given([0, 50]), given([0, 9], np.int64), 1)
    assert added_divergence(gather([0, 50], [0, 9], 1), before).startswith("dies-of-empty-gathers: if shapes are static")


@pytest.mark.parametrize(("reduction", "expected"), [("none", "last-writer-varies"), ("sum", "")])
def test_scatters(reduction, expected):
    data, indices, updates = given([5, 3]), given([4, 3], np.int64), given([4, 3])
    before = opset12.scatter_elements_update(data, indices, updates, ops.constant(0), reduction)
    rows = given([4, 1], np.int64)
    after = opset15.scatter_nd_update(data, rows, updates, reduction)
    assert added_divergence(after, before).partition(":")[0] == expected


def test_stock_in_the_place_of_ours():
    data, indices, updates = given([5, 3]), given([4, 3], np.int64), given([4, 3])
    before = ours("ScatterElements", [node.output(0) for node in (data, indices, updates)], {"axis": 0, "reduction": "none"})
    assert added_divergence(opset3.scatter_elements_update(data, indices, updates, ops.constant(0)), before) == ""
    one = ours(
        "Gather", [given([1, 5]).output(0), given([1, 4], np.int64).output(0), ops.constant(1).output(0)], {"batch_dims": 1}
    )
    assert added_divergence(gather([1, 5], [1, 4], 1), one).startswith("batches-of-one")


def test_a_value_of_open_rank_is_not_judged():
    anything = ops.parameter(ov.PartialShape.dynamic(), np.float32)
    assert added_divergence(opset8.gather(anything, given([9], np.int64), ops.constant(0)), REPLACED) == ""

"""Models of target extension: OpenVINO's own operations where nothing can be out of bounds, and little is moved."""

import numpy as np
import pytest
from openvino import opset13 as ops

from helpers.accelerating import check_same, model_of, operations, parameter
from ov_gather.acceleration.graph import ours
from ov_gather.acceleration.proved_gathers import use_stock_where_proved

ELEMENTS = {"axis": 1, "broadcast": False}


def made(kind, *, size=5, data=None, low=-5, **attributes):
    """A model of one of our operations, whose indices a Clamp keeps in bounds of an axis of 5."""
    value, rng = parameter("data", data or [7, 5]), np.random.default_rng(0)
    if kind == "GatherND":
        index = ops.clamp(parameter("i", [9, 2], np.int64), low, 4)
        node = ours(kind, [value.output(0), index.output(0)], {"batch_dims": 0, **attributes})
        return model_of(node), [rng.integers(-9, 9, (9, 2))]
    index = ops.clamp(parameter("i", [7, size], np.int64), low, 4)
    if kind == "GatherElements":
        return model_of(ours(kind, [value.output(0), index.output(0)], ELEMENTS | attributes)), [rng.integers(-9, 9, (7, size))]
    updates = parameter("u", [7, size])
    node = ours(kind, [value.output(0), index.output(0), updates.output(0)], {"axis": 1, "reduction": "none"} | attributes)
    return model_of(node), [rng.integers(-9, 9, (7, size)), rng.random((7, size), np.float32)]


@pytest.mark.parametrize(
    ("kind", "stock"),
    [("GatherElements", "GatherElements-6"), ("GatherND", "GatherND-8"), ("ScatterElements", "ScatterElementsUpdate-3")],
)
def test_little_that_is_proved_is_stock(kind, stock, rng):
    model, arrays = made(kind)
    other = model.clone()
    assert len(use_stock_where_proved(other)) == 1
    assert stock in operations(other)
    check_same(model, other, [rng.random((7, 5), np.float32), *arrays])


def clamped(name, shape):
    return ops.clamp(parameter(name, shape, np.int64), -5, 4)


@pytest.mark.parametrize(("width", "is_stock"), [(20, True), (16, False)], ids=["long slices", "short slices"])
def test_long_slices_are_stock(width, is_stock, rng):
    data, tuples = parameter("data", [7, 5, width]), clamped("i", [900, 2])
    model = model_of(ours("GatherND", [data.output(0), tuples.output(0)], {"batch_dims": 0}))
    other = model.clone()
    assert len(use_stock_where_proved(other)) == is_stock
    assert ("GatherND-8" in operations(other)) == is_stock
    check_same(model, other, [rng.random((7, 5, width), np.float32), rng.integers(-9, 9, (900, 2))])


@pytest.mark.parametrize("is_computed", [True, False])
def test_scatters_into_what_is_computed_are_stock(is_computed, rng):
    """OpenVINO writes into the memory of data that it has computed, which ours would copy."""
    data, indices, updates = parameter("data", [2000, 5]), clamped("i", [2000, 3]), parameter("u", [2000, 3])
    given = [ops.abs(data) if is_computed else data, indices, updates]
    model = model_of(ours("ScatterElements", [node.output(0) for node in given], {"axis": 1, "reduction": "none"}))
    other = model.clone()
    assert len(use_stock_where_proved(other)) == is_computed
    assert ("ScatterElementsUpdate-3" in operations(other)) == is_computed
    shapes = (2000, 5), (2000, 3), (2000, 3)
    floats, _, others = (rng.random(shape, np.float32) for shape in shapes)
    check_same(model, other, [floats, rng.integers(-9, 9, shapes[1]), others])


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("GatherElements", {"low": -6}),
        ("GatherElements", {"broadcast": True}),
        ("GatherElements", {"transpose": True}),
        ("GatherElements", {"data": [8, 5]}),
        ("GatherElements", {"size": 2000}),
        ("ScatterElements", {"reduction": "add"}),
        ("ScatterElements", {"low": -6}),
        ("GatherND", {"data": [4, 5]}),
    ],
    ids=["not proved", "broadcast", "transposed", "fewer rows", "much", "a sum", "a scatter not proved", "a tuple not proved"],
)
def test_what_stays_ours(kind, options):
    model, _ = made(kind, **options)
    before = operations(model)
    assert use_stock_where_proved(model) == []
    assert operations(model) == before

"""`accelerate`: ScatterElementsUpdate of single elements becomes ours where OpenVINO copies data, and updates are many."""

import numpy as np
import pytest
from openvino import opset3, opset12
from openvino import opset13 as ops

from helpers.accelerating import (
    accelerated,
    arrays_for,
    check_accelerated,
    check_stays,
    model_of,
    operations,
    outputs_of,
    parameter,
)

ROWS, COLUMNS = 300, 256


def scatter_model(
    reduction="none", *, kind=np.float32, axis=1, data=None, updates=100, old=False, index_type=np.int64, **options
):
    shape = [ROWS, updates] if axis % 2 else [updates, COLUMNS]
    data = parameter("data", [ROWS, COLUMNS], kind) if data is None else data
    inputs = data, parameter("i", shape, index_type), parameter("u", shape, kind), ops.constant(axis)
    if old:
        return model_of(opset3.scatter_elements_update(*inputs))
    return model_of(opset12.scatter_elements_update(*inputs, reduction, **options))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("kind", [np.float32, np.int32])
@pytest.mark.parametrize("reduction", ["none", "sum"])
def test_many_updates_of_an_input(reduction, kind, axis):
    model = scatter_model(reduction, kind=kind, axis=axis)
    _, summary = check_accelerated(model, arrays_for(model, size=40), operators=["ov_gather.ScatterElements"])
    assert summary.changes[0].rounds_elsewhere == (reduction == "sum" and kind is np.float32)


@pytest.mark.parametrize("index_type", [np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64])
def test_indices_of_every_type(index_type, rng):
    """Ours takes indices of i32 and i64: others are converted before it."""
    model = scatter_model(index_type=index_type)
    data, _, updates = arrays_for(model, size=40)
    other, _ = check_accelerated(model, [data, rng.integers(0, 128, updates.shape).astype(index_type), updates])
    assert "ov_gather.ScatterElements" in operations(other)


def test_many_updates_of_a_constant_against_numpy():
    model = scatter_model(data=ops.constant(np.zeros((ROWS, COLUMNS), np.float32)), old=True)
    other, _ = accelerated(model)
    assert operations(other) == ["ov_gather.ScatterElements"]
    indices, updates = arrays_for(model, size=40)
    expected = np.zeros((ROWS, COLUMNS), np.float32)
    for column in range(indices.shape[1]):  # the last update of an element stays
        expected[np.arange(ROWS), indices[:, column]] = updates[:, column]
    assert np.array_equal(outputs_of(other, [indices, updates])[0], expected)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"data": ops.abs(parameter("data", [ROWS, COLUMNS]))}, "writes into the memory of data"),
        ({"updates": 60}, "too few updates to gain"),
        ({"data": parameter("data", [200, COLUMNS]), "axis": 0}, "too few updates to gain"),
        ({"updates": -1, "axis": 0}, "how many updates there are is open"),
        ({"reduction": "max"}, "OpenVINO's own is as fast"),
        ({"reduction": "sum", "use_init_val": False}, "OpenVINO's own is as fast"),
        ({"reduction": "sum", "kind": np.float16}, "of f16 not all bits are known to stay the same"),
    ],
    ids=["computed", "few", "small", "open", "greatest", "no initial value", "sums of halves"],
)
def test_what_stays(options, reason):
    check_stays(scatter_model(**options), "scatter-elements", reason=reason)


def test_the_portable_passes_leave_it():
    check_stays(scatter_model(), portable=True)


@pytest.mark.parametrize("shape", [[9], [9, 1]])
def test_a_row_of_one_element_is_called_so(shape):
    index, updates = parameter("i", shape, np.int64), parameter("u", shape)
    data = parameter("data", [7, *shape[1:]])
    model = model_of(opset12.scatter_elements_update(data, index, updates, ops.constant(0), "sum"))
    assert accelerated(model, "scatter-rows")[1].changes[0].reason == "a row is a single element"

"""Gathers and ScatterElementsUpdate: what their versions differ in, and that every layer that is valid has a case."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.chosen_sizes import check_chosen_sizes
from ov_gather import read_ir
from ov_gather.ir.element_types import F16, F32, I32, I64
from ov_gather.ir.model import Layer
from ov_gather.ir.shapes import Dimension, PartialShape
from ov_gather.ops import OPERATIONS, find_operation
from ov_gather.ops.gather import GATHER_1, GATHER_7, GATHER_8, GATHER_CUSTOM
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.gather_nd import GATHER_ND_5, GATHER_ND_8
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_UPDATE_3, SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_nd_update import SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15
from ov_gather.ops.scatter_update import SCATTER_UPDATE_3
from ov_gather.ops.spec import DimensionError, RankError, TypeRuleError
from ov_gather.runtimes.kernel import execute

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


def evaluate(operation, *inputs, **attributes):
    (output,) = operation.evaluate([np.asarray(array) for array in inputs], attributes)
    return output.tolist()


@pytest.mark.parametrize(
    ("type_", "opset", "operation"),
    [
        ("Gather", "opset1", GATHER_1),
        ("Gather", "opset6", GATHER_1),
        ("Gather", "opset7", GATHER_7),
        ("Gather", "opset8", GATHER_8),
        ("Gather", "opset16", GATHER_8),
        ("Gather", "ov_gather", GATHER_CUSTOM),
        ("GatherND", "opset5", GATHER_ND_5),
        ("GatherND", "opset7", GATHER_ND_5),
        ("GatherND", "opset8", GATHER_ND_8),
        ("GatherND", "opset4", None),
        ("ScatterElementsUpdate", "opset3", SCATTER_ELEMENTS_UPDATE_3),
        ("ScatterElementsUpdate", "opset11", SCATTER_ELEMENTS_UPDATE_3),
        ("ScatterElementsUpdate", "opset12", SCATTER_ELEMENTS_UPDATE_12),
        ("ScatterUpdate", "opset2", None),
        ("ScatterUpdate", "opset3", SCATTER_UPDATE_3),
        ("ScatterUpdate", "opset16", SCATTER_UPDATE_3),
        ("ScatterNDUpdate", "opset3", None),
        ("ScatterNDUpdate", "opset4", SCATTER_ND_UPDATE_3),
        ("ScatterNDUpdate", "opset14", SCATTER_ND_UPDATE_3),
        ("ScatterNDUpdate", "opset15", SCATTER_ND_UPDATE_15),
        ("GatherElements", "opset5", None),
        ("GatherElements", "opset6", GATHER_ELEMENTS_6),
        ("GatherElements", "opset16", GATHER_ELEMENTS_6),
        ("GatherElements", "opset17", None),
        ("GatherElements", None, GATHER_ELEMENTS_6),
        ("GatherElements", "", None),
        ("Add", "opset6", None),
    ],
)
def test_versions(type_, opset, operation):
    assert find_operation(Layer(0, "layer", type_, opset)) is operation


def test_gather_1_has_no_batch_dims():
    assert [attribute.name for attribute in GATHER_1.attributes] == []
    assert [attribute.name for attribute in GATHER_7.attributes] == ["batch_dims"]


def test_only_gather_8_fills_zeros():
    for operation in (GATHER_1, GATHER_7):
        with pytest.raises(IndexError):
            evaluate(operation, DATA, [3], 0, axis=0)
    assert evaluate(GATHER_8, DATA, [2, 3, -4], 0, axis=0) == [[8, 9, 10, 11], [0] * 4, [0] * 4]
    assert evaluate(GATHER_CUSTOM, DATA, [3], 0, axis=0, bounds="zero") == [[0] * 4]
    with pytest.raises(IndexError):
        evaluate(GATHER_CUSTOM, DATA, [3], 0, axis=0, bounds="error")


def test_negative_indices_are_allowed_from_these_versions_on():
    lowest = {operation.name: operation.index_rule.lowest_specified(5) for operation in OPERATIONS}
    assert {name for name, value in lowest.items() if value == 0} == {
        "GatherElements-6",
        "Gather-1",
        "Gather-7",
        "GatherND-5",
        "ScatterElementsUpdate-3",
        "ScatterUpdate-3",
        "ScatterNDUpdate-3",
    }
    assert set(lowest.values()) == {0, -5}


def test_gather_nd_5_fuses_batch_dimensions():
    data, indices = np.arange(24.0).reshape(2, 3, 4), np.array([[[1], [0], [3]], [[2], [1], [0]]])
    assert evaluate(GATHER_ND_8, data, indices, batch_dims=2) == [[1, 4, 11], [14, 17, 20]]
    assert evaluate(GATHER_ND_5, data, indices, batch_dims=2) == [1, 4, 11, 14, 17, 20]


def test_scatter_12_reduces():
    inputs = (np.ones(3), [0, 0], np.array([2.0, 3]), 0)
    assert evaluate(SCATTER_ELEMENTS_UPDATE_3, *inputs, axis=0) == [3, 1, 1]
    assert evaluate(SCATTER_ELEMENTS_UPDATE_12, *inputs, axis=0, reduction="sum", use_init_val=False) == [5, 1, 1]
    assert evaluate(SCATTER_ELEMENTS_UPDATE_12, *inputs, axis=0, reduction="mean", use_init_val=True) == [2, 1, 1]


@pytest.mark.parametrize("operation", [SCATTER_ELEMENTS_UPDATE_3, SCATTER_UPDATE_3, SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15])
def test_updates_have_the_type_of_data(operation):
    assert operation.infer_types((F32, I64, F32, I64)[: len(operation.inputs)]) == (F32,)
    with pytest.raises(TypeRuleError, match="updates have element type f16, data has f32"):
        operation.infer_types((F32, I64, F16, I64)[: len(operation.inputs)])


def test_indices_of_every_integer_type():
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64):
        assert evaluate(GATHER_8, DATA, np.array([2, 0], dtype), 0, axis=0) == DATA[[2, 0]].tolist()
    with pytest.raises(IndexError):
        evaluate(GATHER_ND_8, DATA, np.array([[2**64 - 1, 0]], np.uint64), batch_dims=0)


def test_an_input_stands_for_an_attribute(samples):
    layer = next(layer for layer in read_ir(samples / "valid" / "gather_1.xml").layers if layer.type == "Gather")
    data, indices = np.arange(30.0).reshape(5, 6), np.array([[0, 5, 1], [2, 2, 2]], np.int32)
    (output,) = execute(layer, [data, indices, np.array(1)])
    assert np.array_equal(output, data[:, indices])
    with pytest.raises(ValueError, match=r"axis=2 is out of range \(-2 to 1\)"):
        execute(layer, [data, indices, np.array(2)])


DIMS = st.sampled_from(["?", "1", "2", "3", "4", "1..3", "2..", "..4"])
TYPES = ("Gather", "GatherND", "ScatterElementsUpdate")  # the others have tests of their own
SHAPES = st.one_of(st.just("..."), st.lists(DIMS, max_size=4).map(",".join))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([operation for operation in OPERATIONS if operation.type in TYPES]), st.data())
def test_chosen_sizes_are_valid_and_among_those_declared(operation, data):
    shapes = [PartialShape.parse(data.draw(SHAPES)) for _ in operation.inputs]
    if operation.inputs[-1].attribute:
        shapes[-1] = PartialShape.of(())
    if operation.type == "GatherND" and shapes[1].dims:
        shapes[1] = PartialShape((*shapes[1].dims[:-1], Dimension.of(data.draw(st.integers(0, 2)))))
    if operation.type == "ScatterElementsUpdate" and any(shape.dims is None for shape in shapes):
        shapes[:3] = [PartialShape(None)] * 3  # an axis that no rank allows shows only with the rank
    attributes = {attribute.name: attribute.default for attribute in operation.attributes}
    attributes["axis"] = data.draw(st.integers(-3, 2))
    if "batch_dims" in attributes:
        attributes["batch_dims"] = data.draw(st.integers(0, 2))
    check_chosen_sizes(operation, shapes, attributes)


@given(st.integers(1, 5), st.data())
def test_chosen_sizes_of_gather_elements(rank, data):
    shapes = [PartialShape.parse(",".join(data.draw(DIMS) for _ in range(rank))) for _ in range(2)]
    check_chosen_sizes(GATHER_ELEMENTS_6, shapes, {"axis": data.draw(st.integers(-rank, rank - 1))})


@pytest.mark.parametrize(
    ("data", "indices", "axis", "error", "text"),
    [
        ("3,7", "3", 0, RankError, "rank 2, indices .3. has rank 1"),
        ("", "", 0, RankError, "data is a scalar"),
        ("...", "", 0, RankError, "indices is a scalar"),
        ("3,7", "2,7", 1, DimensionError, "dimension 0 is 3 in data .3,7. and 2 in indices"),
        ("1..3,7", "4..9,7", 1, DimensionError, "dimension 0 is 1..3"),
    ],
)
def test_gather_elements_refuses_shapes(data, indices, axis, error, text):
    with pytest.raises(error, match=text):
        GATHER_ELEMENTS_6.infer_shapes([PartialShape.parse(data), PartialShape.parse(indices)], {"axis": axis})


def test_output_type_is_that_of_data():
    assert GATHER_ELEMENTS_6.infer_types((F16, I32)) == (F16,)


def test_axis_range():
    (axis,) = GATHER_ELEMENTS_6.attributes
    unknown, rank_3 = PartialShape(None), PartialShape.of([2, 3, 4])
    assert axis.valid_range((rank_3, unknown)) == (-3, 2)
    assert axis.valid_range((unknown, rank_3)) == (-3, 2)
    assert axis.valid_range((unknown, unknown)) is None


@pytest.mark.parametrize("text", ["1.7", "1x", "", " 1", "+1", "0x1", "1,1", "--1", "१", "1" * 40])
def test_malformed_axis(text):
    with pytest.raises(ValueError, match="not an integer"):
        GATHER_ELEMENTS_6.read_attributes({"axis": text}, (PartialShape(None), PartialShape(None)))

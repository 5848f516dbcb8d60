"""Scatters of ONNX models through the converter: a part of the scatter matrix, what is lost on stock OpenVINO, constants."""

import pytest
from onnx import TensorProto

from helpers.cells import Cell, losses
from helpers.saved_models import parsed
from ov_gather.converters import ConversionError, compile_onnx, convert_model
from tools.measurements import gathers

SCATTERS = ["Scatter", "ScatterElements", "ScatterND"]


def scatter(op, indices=None, data_type="float", reduction=None):
    """A model of a scatter along axis 1 of data [3, 4], with indices as an input or as a constant."""
    attributes = [] if op == "ScatterND" else ["axis = 1"]
    attributes += [f'reduction = "{reduction}"'] if reduction else []
    tuples, elements = ("5, 2", "5") if op == "ScatterND" else ("2, 5", "2, 5")
    given = [f"{data_type}[3, 4] data", f"int64[{tuples}] indices", f"{data_type}[{elements}] updates"]
    constants = {} if indices is None else {"indices": given.pop(1) and indices}
    node = f"[scatter] output = {op} <{', '.join(attributes)}> (data, indices, updates)".replace("<>", "")
    text = f"({', '.join(given)}) => ({data_type}[3, 4] output) {{ {node} }}"
    return parsed(text, gathers.OPSETS[op], **constants)


@pytest.mark.sampled(13)
@pytest.mark.parametrize("op", SCATTERS)
@pytest.mark.parametrize(
    ("cell", "outcome"),
    [
        (("float32", "int64", "negative"), "exact"),
        (("float16", "int64", "repeated", "unknown rank"), "exact"),
        (("bool", "int64", "smaller", "dynamic"), "exact"),
        (("uint32", "int64", "repeated", "static", ("updates",)), "exact"),
        (("string", "int64", "negative", "static", ("indices",)), "exact"),
        (("int8", "int64", "empty", "static", ("updates",)), "exact"),
        (("complex128", "int64", "empty"), "exact"),
        (("complex128", "int64", "repeated", "dynamic"), "exact"),
        (("complex64", "int64", "smaller"), "exact"),
        (("string", "int64", "empty"), "exact"),
        (("string", "int64", "empty", "static", ("updates",)), "exact"),
        (("complex128", "int64", "beyond"), "raises"),
        (("complex128", "int64", "before", "dynamic"), "raises"),
        (("uint64", "int64", "repeated", "unknown rank"), "exact"),
        (("float32", "int64", "beyond"), "raises"),
        (("float32", "int64", "before", "dynamic"), "raises"),
        (("float32", "int64", "beyond", "static", ("indices",)), "raises"),
        (("float32", "int64", "beyond 32 bits"), "raises"),
    ],
)
def test_a_part_of_the_scatter_matrix(op, cell, outcome):
    assert gathers.outcome(Cell(op, *cell))[0] == outcome


@pytest.mark.sampled(14)
@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(
    "cell",
    [
        *(("bfloat16", "add"), ("float16", "mul"), ("uint32", "max"), ("uint32", "min"), ("bool", "add")),
        *(("complex64", "add"), ("complex64", "max"), ("complex128", "mul"), ("complex128", "min")),
    ],
)
def test_reductions_of_the_scatter_matrix(op, cell):
    element_type, reduction = cell
    assert gathers.outcome(Cell(op, element_type, "int64", "repeated", reduction=reduction)) == ("exact", "")


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(
    "cell", [("int64", "add"), ("uint64", "max"), ("float64", "mul"), ("float64", "min"), ("complex128", "add")]
)
@pytest.mark.parametrize("form", ["static", "dynamic"])
def test_numbers_of_64_bits_are_reduced_exactly(op, cell, form):
    element_type, reduction = cell
    assert gathers.outcome(Cell(op, element_type, "int64", "repeated", form, reduction=reduction)) == ("exact", "")
    assert gathers.outcome(Cell(op, element_type, "int64", "beyond", form, reduction=reduction))[0] == "raises"


@pytest.mark.parametrize("op", SCATTERS)
def test_stock_openvino_may_write_to_foreign_memory(op):
    found = losses(convert_model, scatter(op))
    assert any("an index out of bounds may write to foreign memory" in text for text in found) == (op != "ScatterND")
    assert not any("foreign" in text for text in losses(convert_model, scatter(op), target="extension"))
    assert losses(convert_model, scatter(op), assume_in_bounds=True) == []


@pytest.mark.parametrize("op", SCATTERS)
@pytest.mark.parametrize("reduction", [None, "add"])
def test_integers_lose_nothing_where_our_operations_take_them(op, reduction):
    reduction = None if op == "Scatter" else reduction
    assert losses(compile_onnx, scatter(op, data_type="int64", reduction=reduction)) == []
    (line, *_) = losses(convert_model, scatter(op, data_type="int64", reduction=reduction))
    assert "i64 is computed as i32" in line


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize("op", SCATTERS)
def test_a_constant_out_of_bounds_is_refused(op, target):
    indices = [[0, 0], [2, -1], [2, -5], [0, 1], [0, 2]] if op == "ScatterND" else [[0, -1, 2, 3, 0], [1, 4, 0, 0, 0]]
    bad = r"indices\[2, 1\] = -5" if op == "ScatterND" else r"indices\[1, 1\] = 4"
    with pytest.raises(ConversionError, match=rf"{op} 'scatter'.*{bad} is out of bounds for axis 1 of size 4 \(valid -4..3\)"):
        convert_model(scatter(op, indices), target=target)


@pytest.mark.parametrize("op", SCATTERS)
def test_types_that_the_operator_does_not_take_are_named(op):
    proto = scatter(op)
    proto.graph.input[1].type.tensor_type.elem_type = TensorProto.FLOAT
    with pytest.raises(ConversionError, match=f"{op} 'scatter'.*indices must not be float; {op}-"):
        convert_model(proto)

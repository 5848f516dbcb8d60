"""The table of element types, against OpenVINO's and ONNX's own names."""

import numpy as np
import onnx
import pytest

from ov_gather.ir.element_types import ELEMENT_TYPES, by_dtype, by_name, by_onnx, by_precision


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=str)
def test_found_by_each_of_its_names(row):
    assert by_name(row.name) is row
    assert by_name(row.name.upper()) is row
    assert by_precision(row.precision) is row
    assert by_precision(row.name) is row
    if row.onnx:
        assert by_onnx(row.onnx) is row
    if row.numpy_name:
        assert by_dtype(row.dtype) is row


@pytest.mark.openvino
@pytest.mark.parametrize("row", [row for row in ELEMENT_TYPES if row.bits], ids=str)
def test_as_many_bytes_as_openvino_packs(row):
    import openvino

    kind = getattr(openvino.Type, row.name)
    assert [row.byte_size(count) for count in range(20)] == [openvino.Tensor(kind, [count]).byte_size for count in range(20)]


@pytest.mark.parametrize("name", ["fp32", "bool", "FP99", "", "Q78"])
def test_unknown_precisions(name):
    assert by_precision(name) is None


def test_precisions_are_not_element_types():
    assert by_name("FP32") is None
    assert by_name("BOOL") is None


@pytest.mark.parametrize("row", [row for row in ELEMENT_TYPES if row.onnx and row.name != "string"], ids=str)
def test_onnx_agrees_on_the_numpy_dtype(row):
    assert onnx.helper.tensor_dtype_to_np_dtype(row.onnx) == row.dtype


def test_types_without_dtype_say_so():
    with pytest.raises(TypeError, match="nf4 has no NumPy dtype"):
        by_name("nf4").dtype  # noqa: B018
    assert by_dtype(np.dtype(np.complex64)) is None

"""Models of a few kilobytes that cost OpenVINO, or shape inference, hours: refused or left out, with the reason."""

import onnx
import openvino
import pytest
from hostile.doors.expensive import constant, model, nested_ifs

from ov_gather import cross_check
from ov_gather.converters import ConversionError, compile_onnx, convert_model
from ov_gather.runtimes.base import NESTED_IFS


def test_nested_ifs_are_not_compiled(tmp_path):
    source = model(nested_ifs(20))
    with pytest.raises(ConversionError, match="more than 12 If are nested"):
        compile_onnx(source)
    onnx.save(source, tmp_path / "in.onnx")
    openvino.save_model(openvino.Core().read_model(tmp_path / "in.onnx"), tmp_path / "in.xml")
    result = cross_check(tmp_path / "in.xml")
    assert result.passed
    assert result.not_run.startswith("20 If are nested")


@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
def test_as_many_nested_ifs_as_openvino_compiles_soon():
    compile_onnx(model(nested_ifs(NESTED_IFS // 2)))


@pytest.mark.parametrize("size", [2**31, 2**62])
@pytest.mark.parametrize("convert", [compile_onnx, convert_model])
def test_a_constant_range_without_end_is_refused(size, convert):
    with pytest.raises(ConversionError, match=rf"node Range .*: {size} elements, but OpenVINO has tensors of fewer than 2\^31"):
        convert(model(constant(size)))

"""Models of a few kilobytes that cost OpenVINO, or shape inference, hours: refused or left out, with the reason."""

import onnx
import onnx_ir
import openvino
import pytest
from hostile.doors.expensive import constant, model, nested_ifs

from ov_gather import bisect, cross_check
from ov_gather.converters import ConversionError, compile_onnx, convert_model
from ov_gather.converters.refusals import refuse_nested
from ov_gather.runtimes.base import NESTED_IFS


def test_nested_ifs_are_not_compiled(tmp_path):
    source = model(nested_ifs(20))
    with pytest.raises(ConversionError, match="more than 12 If are nested"):
        compile_onnx(source)
    onnx.save(source, tmp_path / "in.onnx")
    openvino.save_model(openvino.Core().read_model(tmp_path / "in.onnx"), tmp_path / "in.xml")
    result = cross_check(tmp_path / "in.xml")
    assert result.passed
    assert "20 If are nested" in result.not_run
    assert "20 If are nested" in bisect(tmp_path / "in.xml", tmp_path / "in.xml").not_run


@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
def test_as_many_nested_ifs_as_openvino_compiles_soon():
    compile_onnx(model(nested_ifs(NESTED_IFS // 2)))


@pytest.mark.parametrize("size", [2**31, 2**62])
@pytest.mark.parametrize("convert", [compile_onnx, convert_model])
def test_a_constant_range_without_end_is_refused(size, convert):
    with pytest.raises(ConversionError, match=rf"node Range .*: {size} elements, but OpenVINO has tensors of fewer than 2\^31"):
        convert(model(constant(size)))


@pytest.mark.parametrize(("operator", "domain"), [("If", "other"), ("Loop", "")])
def test_other_nested_nodes_are_no_ifs(operator, domain):
    nodes = left = nested_ifs(20)
    while left:
        inner = [node for node in left if node.op_type == "If"]
        left = [other for node in inner for given in node.attribute for other in given.g.node]
        for node in inner:
            node.op_type, node.domain = operator, domain
    refuse_nested(onnx_ir.from_proto(model(nodes)))


def test_as_many_nested_ifs_as_are_allowed():
    refuse_nested(onnx_ir.from_proto(model(nested_ifs(NESTED_IFS))))
    with pytest.raises(ConversionError, match=f"more than {NESTED_IFS} If are nested"):
        refuse_nested(onnx_ir.from_proto(model(nested_ifs(NESTED_IFS + 1))))

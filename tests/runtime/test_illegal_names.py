"""Names that XML cannot hold: inside of a model they are escaped, and those of inputs and outputs are refused."""

from xml.etree import ElementTree

import numpy as np
import onnx
import pytest

from ov_gather import validate
from ov_gather.converters import ConversionError, convert_model

pytestmark = pytest.mark.openvino


def model(inside, data="data"):
    nodes = [
        onnx.helper.make_node("Gather", [data, "indices"], [f"rows{inside}"], name=f"gather{inside}"),
        onnx.helper.make_node("Neg", [f"rows{inside}"], ["output"], name=f"neg{inside}"),
    ]
    given = [onnx.helper.make_tensor_value_info(data, onnx.TensorProto.FLOAT, [5, 3])]
    made = [onnx.helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, [2, 3])]
    indices = onnx.numpy_helper.from_array(np.array([4, 1]), "indices")
    graph = onnx.helper.make_graph(nodes, "g", given, made, [indices])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("inside", ["\x1b[31m", "\x01\x1f", "\ufffe\uffff", "\n\t\x7f\u202e&<>\"'"])
def test_names_inside_of_a_model(tmp_path, inside):
    convert_model(model(inside), output=tmp_path / "m.xml")
    ElementTree.parse(tmp_path / "m.xml")
    assert validate(tmp_path / "m.xml") == []


def test_names_of_inputs(tmp_path):
    with pytest.raises(ConversionError, match=r"^input 'x\\x1b': XML, and so an IR, cannot hold U\+001B: rename the input$"):
        convert_model(model("", "x\x1b"), output=tmp_path / "m.xml")
    assert not [*tmp_path.iterdir()]

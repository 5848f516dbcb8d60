# title: A constant without elements becomes a scalar
# component: OpenVINO, ONNX front end
# expected: ONNX TensorProto: dims = [0] is a tensor of shape [0]; only no dims at all are a scalar
# actual: the constant is a scalar 0
# issues: openvinotoolkit/openvino#37706, openvinotoolkit/openvino#1776
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[N] y, float[2] z) {
    none = Constant<value = float[0] {}>()
    y = Identity(none)
    z = Neg(x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")(np.float32([1, 2]))[0]

assert found.shape == (0,), f"shape {found.shape}: {found}"

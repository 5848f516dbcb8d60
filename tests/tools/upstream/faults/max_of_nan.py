# title: Max returns a number for NaN, depending on the order of its operands
# component: OpenVINO, CPU plugin
# expected: NumPy and onnxruntime: the maximum of NaN and a number is NaN
# issues: openvinotoolkit/openvino#35839
# actual: NaN as the first operand is lost, as the second it is kept
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] a, float[2] b) => (float[2] y) { y = Max(a, b) }"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
a, b = np.float32([np.nan, 1]), np.float32([1, np.nan])
found = ov.compile_model(model, "CPU")([a, b])[0]

np.testing.assert_array_equal(found, np.maximum(a, b))

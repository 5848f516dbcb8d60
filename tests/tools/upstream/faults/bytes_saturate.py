# title: Sums of bytes saturate
# component: OpenVINO, CPU plugin
# expected: NumPy and onnxruntime: integers wrap around; so do those of 32 bits in the plugin
# actual: 250 + 10 is 255 in uint8
# issues: openvinotoolkit/openvino#35647, openvinotoolkit/openvino#35651
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (uint8[2] a, uint8[2] b) => (uint8[2] y) { y = Add(a, b) }"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
a, b = np.array([250, 7], np.uint8), np.array([10, 2], np.uint8)
found = ov.compile_model(model, "CPU")([a, b])[0]

np.testing.assert_array_equal(found, a + b)

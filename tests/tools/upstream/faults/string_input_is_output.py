# title: An output that is an input of strings is freed twice
# component: OpenVINO, CPU plugin
# expected: ONNX Identity-16: the input; string is among its types
# actual: input and output share the strings, and both free them
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (string[2] x) => (string[2] y) { y = Identity(x) }"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.array([f"{letter}: long enough to be stored outside of the object" for letter in "ab"])
compiled = ov.compile_model(model, "CPU")
for _ in range(3):
    np.testing.assert_array_equal(compiled(x)[0], x)

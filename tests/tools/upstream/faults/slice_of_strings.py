# title: Slice of strings ends the process
# component: OpenVINO, CPU plugin
# expected: ONNX Slice-13: part of the input; string is among its types
# actual: strings are copied as bytes, and freed twice
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (string[4] x) => (string[2] y) {
    a = Constant<value_ints = [1]>()
    b = Constant<value_ints = [3]>()
    y = Slice(x, a, b)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.array([f"{letter}: long enough to be stored outside of the object" for letter in "abcd"])
compiled = ov.compile_model(model, "CPU")
for _ in range(3):
    np.testing.assert_array_equal(compiled(x)[0], x[1:3])

# title: If with outputs of strings ends the process
# component: OpenVINO, CPU plugin
# expected: ONNX If-16: the output of the branch; string is among its types
# actual: strings are copied as bytes, and freed twice
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (string[2] x, string[2] w, bool c) => (string[2] y) {
    y = If(c)<then_branch = a () => (string[2] p) { p = Identity(x) }, else_branch = b () => (string[2] q) { q = Identity(w) }>
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x, w = (np.array([f"{letter}: long enough to be stored outside of the object"] * 2) for letter in "xw")
compiled = ov.compile_model(model, "CPU")
for _ in range(3):
    np.testing.assert_array_equal(compiled([x, w, np.array(True)])[0], x)

# title: Split of strings returns the first part twice
# component: OpenVINO, CPU plugin
# expected: ONNX Split-18: parts of the input, in their order; string is among its types
# actual: strings are copied as bytes from a wrong place: the second part is the first
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (string[4] x) => (string[2] a, string[2] b) {
    a, b = Split<num_outputs = 2>(x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.array([f"{letter}: long enough to be stored outside of the object" for letter in "abcd"])
found = ov.compile_model(model, "CPU")(x)

np.testing.assert_array_equal(found[1], x[2:])

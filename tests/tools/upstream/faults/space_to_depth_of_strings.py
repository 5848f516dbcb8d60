# title: SpaceToDepth of strings returns empty strings
# component: OpenVINO, CPU plugin
# expected: ONNX SpaceToDepth-13: moves blocks of elements; string is among its types
# actual: every string of the result is empty
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (string[1,1,2,2] x) => (string[1,4,1,1] y) {
    y = SpaceToDepth<blocksize = 2>(x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.array([f"{letter}: long enough to be stored outside of the object" for letter in "abcd"]).reshape(1, 1, 2, 2)
found = ov.compile_model(model, "CPU")(x)[0]

np.testing.assert_array_equal(found, x.reshape(1, 4, 1, 1))

# title: DepthToSpace of strings ends the process
# component: OpenVINO, CPU plugin
# expected: ONNX DepthToSpace-13: moves blocks of elements; string is among its types
# actual: strings are copied as bytes, and freed twice
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (string[1,4,1,1] x) => (string[1,1,2,2] y) {
    y = DepthToSpace<blocksize = 2>(x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.array([f"{letter}: long enough to be stored outside of the object" for letter in "abcd"]).reshape(1, 4, 1, 1)
compiled = ov.compile_model(model, "CPU")
for _ in range(3):
    np.testing.assert_array_equal(compiled(x)[0], x.reshape(1, 1, 2, 2))

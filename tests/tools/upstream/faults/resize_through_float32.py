# title: Interpolate rounds integers to float32 in mode nearest
# component: OpenVINO, CPU plugin
# expected: Interpolate-11, mode nearest: each element of the output is an element of the input
# actual: 16777217 becomes 16777216
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (int32[1,1,1,2] x) => (int32[1,1,1,4] y) {
    s = Constant<value = float[4] {1, 1, 1, 2}>()
    y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , s)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.array([[[[1, 16_777_217]]]], np.int32)

found = ov.compile_model(model, "CPU")(x)[0]
np.testing.assert_array_equal(found, np.repeat(x, 2, 3))

# title: A Loop of no iterations returns the state of the inference before
# component: OpenVINO, CPU plugin
# expected: ONNX Loop-16: without an iteration, the final state is the initial state
# actual: if the body does not read its state: uninitialized memory at first, then the result of the inference before
# issues: openvinotoolkit/openvino#37247
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] x, float[2] w, int64 trips, bool on) => (float[2] y) {
    y = Loop(trips, on, x)<body = step (int64 i, bool go, float[2] state) => (bool still, float[2] next) {
        still = Identity(go)
        next = Identity(w)
    }>
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
compiled = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
x, w = np.float32([1, 2]), np.float32([10, -20])

for trips, expected in ((2, w), (0, x)):
    np.testing.assert_array_equal(compiled([x, w, np.array(trips), np.array(True)])[0], expected)

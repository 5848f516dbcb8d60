# title: A Loop of no iterations returns the joined slices of the inference before
# component: OpenVINO, CPU plugin
# expected: ONNX Loop-16: without an iteration, scan outputs have 0 rows
# actual: they are those of the last inference that has made an iteration, and as many
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] x, int64 trips) => (float[2] y, float[n, 2] z) {
    on = Constant<value = bool {1}>()
    y, z = Loop(trips, on, x)<body = step (int64 i, bool go, float[2] state) => (bool still, float[2] next, float[2] row) {
        still = Identity(go)
        next = Add(state, state)
        row = Neg(state)
    }>
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
compiled = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

for trips in (3, 0):
    found = compiled([np.float32([1, 2]), np.array(trips)])[1]
    assert found.shape == (trips, 2), found.shape

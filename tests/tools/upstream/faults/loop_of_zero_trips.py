# title: A Loop of 0 iterations that joins slices ends the process
# component: OpenVINO, CPU plugin
# expected: ONNX Loop-16: without an iteration, scan outputs have 0 rows
# actual: the plugin divides by zero (SIGFPE); with a constant state alone: "Zero count of iteration not supported"
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y, float[n, 2] z) {
    trips = Constant<value = int64 {0}>() on = Constant<value = bool {1}>()
    y, z = Loop(trips, on, x)<body = step (int64 i, bool go, float[2] state) => (bool still, float[2] next, float[2] row) {
        still = Identity(go)
        next = Add(state, state)
        row = Neg(state)
    }>
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
compiled = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
found = compiled(np.float32([1, 2]))

assert [array.shape for array in found.values()] == [(2,), (0, 2)]

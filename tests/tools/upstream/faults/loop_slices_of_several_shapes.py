# title: A Loop whose slices change their shape returns uninitialized memory
# component: OpenVINO, CPU plugin
# expected: ONNX Loop-16: the scan outputs of all iterations have the same shape; an error
# actual: memory that nothing has written
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (int64[1] x) => (int64[n] y, int64[a, b] z) {
    trips = Constant<value = int64 {5}>() on = Constant<value = bool {1}>()
    y, z = Loop(trips, on, x)<body = step (int64 i, bool go, int64[j] state) => (bool still, int64[k] next, int64[k] row) {
        still = Identity(go)
        zero = Constant<value = int64[1] {0}>()
        one = Unsqueeze(i, zero)
        next = Concat<axis = 0>(state, one)
        row = Identity(next)
    }>
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
compiled = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
try:
    found = compiled(np.array([7]))
except RuntimeError:
    found = None
assert found is None, found

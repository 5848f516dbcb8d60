# title: A Loop overwrites a value from outside by a sum with a view of it
# component: OpenVINO, CPU plugin
# expected: ONNX Loop-16: each iteration reads the same outer value
# actual: the sum is computed in the memory of the outer value, and the next iteration adds to the result
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2, 2] x, float[4] w) => (float[3, 4] y) {
    trips = Constant<value = int64 {3}>() on = Constant<value = bool {1}>()
    y = Loop(trips, on)<body = step (int64 i, bool go) => (bool still, float[4] row) {
        still = Identity(go)
        sizes = Constant<value = int64[1] {-1}>()
        view = Reshape(x, sizes)
        row = Add(view, w)
    }>
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
compiled = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
x, w = np.float32([[2, 1], [3, 4]]), np.float32([-4, 1, 2, 3])

np.testing.assert_array_equal(compiled([x, w])[0], [x.ravel() + w] * 3)

# title: A Loop whose second state is a view of the first is wrong
# component: OpenVINO, CPU plugin
# expected: ONNX Loop-16: each state is what the iteration before has returned for it
# actual: both states share memory: the sum of the first overwrites the second
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] s, float[2] t, int64 n, bool on) => (float[2] y, float[2] z) {
    y, z = Loop(n, on, s, t)<body = step (int64 i, bool go, float[2] a, float[2] b) => (bool still, float[2] u, float[2] v) {
        still = Identity(go)
        u = Add(a, b)
        flat = Constant<value_ints = [-1]>()
        two = Constant<value_ints = [2]>()
        r = Reshape(a, flat)
        v = Reshape(r, two)
    }>
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
a, b = np.float32([1, 2]), np.float32([3, 4])
found = ov.compile_model(model, "CPU")([a, b, np.array(3), np.array(True)])

for _ in range(3):
    a, b = a + b, a
np.testing.assert_array_equal([found[0], found[1]], [a, b])

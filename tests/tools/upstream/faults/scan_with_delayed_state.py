# title: A Scan whose next state is its element returns the states shifted by one
# component: OpenVINO, CPU plugin
# expected: ONNX Scan-16: an iteration reads the state that the iteration before has returned
# actual: the element of the iteration overwrites the state before the body reads it
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float s, float[3] x) => (float last, float[3] states) {
    last, states = Scan<num_scan_inputs = 1, body = step (float state, float element) => (float next, float seen) {
        next = Identity(element)
        seen = Identity(state)
    }>(s, x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")([np.float32(7), np.float32([10, 20, 30])])

np.testing.assert_array_equal(found[0], 30)
np.testing.assert_array_equal(found[1], [7, 10, 20])

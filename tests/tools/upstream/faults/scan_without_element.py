# title: A Scan whose body does not read its element makes one iteration
# component: OpenVINO, transformations
# expected: ONNX Scan-16: as many iterations as the scanned axis has elements
# actual: one iteration
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] s, float[3, 2] x) => (float[2] last) {
    last = Scan<num_scan_inputs = 1, body = step (float[2] state, float[2] element) => (float[2] next) {
        next = Add(state, state)
    }>(s, x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")([np.float32([1, 2]), np.zeros((3, 2), np.float32)])[0]

np.testing.assert_array_equal(found, [8, 16])

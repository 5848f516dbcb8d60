# title: A Scan that adds to its state is wrong from the second iteration on
# component: OpenVINO, CPU plugin
# expected: ONNX Scan-16: the final state is what the last iteration has returned
# actual: the next element is written over the state
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] s, float[3, 2] x) => (float[2] last) {
    last = Scan<num_scan_inputs = 1, body = step (float[2] state, float[2] element) => (float[2] next) {
        one = Constant<value = float[2] {1, 2}>()
        more = Add(element, one)
        next = Add(state, more)
    }>(s, x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.arange(6, dtype=np.float32).reshape(3, 2)
found = ov.compile_model(model, "CPU")([np.zeros(2, np.float32), x])[0]

np.testing.assert_array_equal(found, np.add(x, [1, 2]).sum(0))

# title: Gather of strings copies only the first string of each slice
# component: onnxruntime, CPU execution provider
# expected: ONNX Gather-13: whole slices of data; string is among its types
# actual: other strings of a slice are empty
import numpy as np
import onnx.parser
import onnxruntime

text = """<ir_version: 8, opset_import: ["" : 18]> g (string[2,3] x, int64[2] i) => (string[2,3] y) {
    y = Gather(x, i)
}"""
session = onnxruntime.InferenceSession(onnx.parser.parse_model(text).SerializeToString())
x, i = np.array([["a", "b", "c"], ["d", "e", "f"]], object), np.array([1, 0])

np.testing.assert_array_equal(session.run(None, {"x": x, "i": i})[0], x[i])

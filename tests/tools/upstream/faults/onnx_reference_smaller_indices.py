# title: The reference evaluator refuses a GatherElements with fewer indices than data
# component: ONNX, reference evaluator
# expected: ONNX GatherElements-13: output has the shape of indices, which may be smaller than data off the axis
# actual: raises; onnxruntime gives the result
import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[3,3] x, int64[2,2] i) => (float[2,2] y) {
    y = GatherElements<axis = 0>(x, i)
}"""
evaluator = ReferenceEvaluator(onnx.parser.parse_model(text))
x, i = np.arange(9, dtype=np.float32).reshape(3, 3), np.array([[2, 0], [1, 2]])

np.testing.assert_array_equal(evaluator.run(None, {"x": x, "i": i})[0], np.take_along_axis(x[:, :2], i, 0))

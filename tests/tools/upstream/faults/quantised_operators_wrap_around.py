# title: QLinearAdd and other quantised operators of com.microsoft wrap around, and do not round
# component: OpenVINO, ONNX front end
# expected: as in ONNX Runtime: the sum is rounded to the nearest integer, and limited to the range of its type
# actual: 306 becomes 50; so for QLinearMul, QLinearConcat, QLinearSigmoid, QLinearLeakyRelu and QLinearAveragePool
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>
g (uint8[2] a, uint8[2] b) => (uint8[2] y) <float one = {1.0}, uint8 zero = {0}> {
    y = com.microsoft.QLinearAdd(a, one, zero, b, one, zero, one, zero)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
a, b = np.array([200, 3], np.uint8), np.array([106, 4], np.uint8)
found = ov.compile_model(model, "CPU")([a, b])[0]

np.testing.assert_array_equal(found, [255, 7])

# title: Softmax of opsets 11 and 12 is computed along one axis
# component: OpenVINO, ONNX front end
# expected: ONNX Softmax-11: the input is coerced into 2D from the axis on, so that all elements of these axes have the sum 1
# actual: only those along the axis itself have it, as in opset 13
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 7, opset_import: ["" : 12]> g (float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Softmax<axis = 1>(x) }"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")(np.zeros((2, 3, 4), np.float32))[0]

np.testing.assert_allclose(found.sum((1, 2)), 1)

# title: Flatten of no elements returns another shape, and uninitialized memory
# component: OpenVINO, ONNX front end
# expected: ONNX Flatten-13: (d_0 * ... d_(axis-1), d_axis * ... d_n), here (6, 0)
# actual: (6, 3): it becomes a Reshape, which takes a size of 0 for that of its input
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2, 3, 0, 5] x) => (float[m, n] y) { y = Flatten<axis = 2>(x) }"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")(np.zeros((2, 3, 0, 5), np.float32))[0]

assert found.shape == (6, 0), found.shape

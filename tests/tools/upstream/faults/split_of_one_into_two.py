# title: Split of an axis of 1 into two parts is refused
# component: OpenVINO, ONNX front end
# expected: ONNX Split-18: if the axis cannot be split evenly, the last part is smaller, here empty
# actual: "The split number is invalid"
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[1] x) => (float[A] a, float[B] b) {
    a, b = Split<axis = 0, num_outputs = 2>(x)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")(np.float32([7]))

assert [array.tolist() for array in found.values()] == [[7], []]

# title: keep_aspect_ratio_policy of Resize, and other attributes, are ignored
# component: OpenVINO, ONNX front end
# expected: ONNX Resize-18, "keep_aspect_ratio_policy": not_larger keeps the ratio of the sizes; a part not known is refused
# actual: the sizes are those given; so for antialias, exclude_outside, layout of LSTM, GRU and RNN, mode of RoiAlign, P of LSTM
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[1,1,2,4] x) => (float[A,B,C,D] y) {
    sizes = Constant<value_ints = [1, 1, 4, 6]>()
    y = Resize<mode = "nearest", keep_aspect_ratio_policy = "not_larger">(x, , , sizes)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")(np.zeros((1, 1, 2, 4), np.float32))[0]

assert found.shape == (1, 1, 3, 6), found.shape

# title: Gather of an ONNX model returns 0 for an index out of bounds
# component: OpenVINO, ONNX front end
# expected: ONNX Gather-13, "Inputs": it is an error if an index is out of bounds; onnxruntime raises
# actual: Gather becomes Gather-8, which returns 0
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[3] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
request = ov.compile_model(model, "CPU").create_infer_request()

try:
    request.start_async([np.float32([1, 2, 3]), np.array([3])])
    request.wait()
except RuntimeError:
    pass
else:
    raise AssertionError(f"index 3 of 3 elements: {request.get_output_tensor().data}")

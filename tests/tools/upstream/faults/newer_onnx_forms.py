# title: Attributes that newer versions of ONNX operators have are ignored
# component: OpenVINO, ONNX front end
# expected: ONNX SpaceToDepth-28: mode CRD puts the blocks behind the channel; what a front end does not know, it refuses
# actual: the model is read as if it had the version before: SpaceToDepth-13, which has no mode
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 13, opset_import: ["" : 28]> g (float[1,2,2,2] x) => (float[1,8,1,1] y) {
    y = SpaceToDepth<blocksize = 2, mode = "CRD">(x)
}"""
x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
try:
    model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
except RuntimeError as error:
    print("refused:", str(error).strip().splitlines()[-1])
else:
    np.testing.assert_array_equal(ov.compile_model(model, "CPU")(x)[0].ravel(), x.ravel())

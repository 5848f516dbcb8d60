# title: A Cast to float16 neither rounds nor overflows
# component: OpenVINO, CPU plugin
# expected: ONNX Cast-13: the result is a float16: 2049 becomes 2048, 70000 becomes infinity
# actual: with float32 as inference precision both stay
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) {
    half = Cast<to = 10>(x)
    y = Cast<to = 1>(half)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
x = np.float32([2049, 70000])
found = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]

with np.errstate(over="ignore"):
    np.testing.assert_array_equal(found, x.astype(np.float16).astype(np.float32))

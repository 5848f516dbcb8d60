# title: A Range that leads away from its limit is not empty
# component: OpenVINO, CPU plugin
# expected: ONNX Range-11: max(ceil((limit - start) / delta), 0) elements, here none
# actual: as many elements as the distance, in the wrong direction
import numpy as np
import onnx.parser
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 18]> g (int32 start) => (int32[n] y) {
    limit = Constant<value = int32 {5}>()
    delta = Constant<value = int32 {-1}>()
    y = Range(start, limit, delta)
}"""
model = ov.Core().read_model(onnx.parser.parse_model(text).SerializeToString())
found = ov.compile_model(model, "CPU")(np.array(0, np.int32))[0]

np.testing.assert_array_equal(found, np.arange(0, 5, -1))

# title: Denormal constants of float32 become 0
# component: OpenVINO, CPU plugin
# expected: Gather-8: output elements are elements of data
# actual: 1e-40 becomes 0, and so does -0.0 beside it; as inputs they keep their bits
# issues: openvinotoolkit/openvino#19360
import numpy as np
import openvino as ov
from openvino import opset13 as op

table = np.float32([1, 1e-40])
indices = op.parameter([1], np.int32)
gathered = op.gather(op.constant(table), indices, op.constant(0))
compiled = ov.compile_model(ov.Model([gathered], [indices]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

np.testing.assert_array_equal(compiled(np.array([1], np.int32))[0], table[1:])

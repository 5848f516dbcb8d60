# title: Constants of u32 saturate at 2^31 - 1
# component: OpenVINO, CPU plugin
# expected: Gather-8: output elements are elements of data
# actual: 4294967295 becomes 2147483647; as an input it keeps its bits
import numpy as np
import openvino as ov
from openvino import opset13 as op

table = np.array([1, 4_294_967_295], np.uint32)
indices = op.parameter([1], np.int32)
gathered = op.gather(op.constant(table), indices, op.constant(0))
compiled = ov.compile_model(ov.Model([gathered], [indices]), "CPU")

np.testing.assert_array_equal(compiled(np.array([1], np.int32))[0], table[1:])

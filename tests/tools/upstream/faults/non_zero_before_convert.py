# title: NonZero reads what was not converted yet
# component: OpenVINO, transformations
# expected: NonZero-3, "Detailed description": the indices of elements of its input that are not 0
# actual: the Convert before NonZero is removed: 0.5 counts as not 0 though it is converted to 0
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([4], np.float32)
whole = op.convert(x, np.int32)
compiled = ov.compile_model(ov.Model([op.non_zero(whole)], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.float32([0, 0.5, -0.5, 2]))[0], [[3]])

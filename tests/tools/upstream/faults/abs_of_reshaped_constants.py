# title: Abs of a constant that is reshaped to a computed shape is refused
# component: OpenVINO, transformations
# expected: Reshape-1: the shape may be computed
# actual: compile_model: AbsSinking, "Check 'get_partial_shape().same_scheme(value.get_shape())' failed"
import numpy as np
import openvino as ov
from openvino import opset13 as op

sizes = op.parameter([1], np.int64)
constant = op.constant(np.float32([1, -3]))
compiled = ov.compile_model(ov.Model([op.abs(op.reshape(constant, sizes, False))], [sizes]), "CPU")

np.testing.assert_array_equal(compiled(np.array([-1]))[0], [1, 3])

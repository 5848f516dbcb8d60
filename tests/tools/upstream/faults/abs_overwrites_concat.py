# title: Abs overwrites a Concat that is still needed
# component: OpenVINO, CPU plugin
# expected: Concat-1: the operands, one after the other, whoever else reads the result
# actual: Abs is computed in the memory of the Concat: an output of the model holds absolute values
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2], np.float32)
both = op.concat([x, x], 0)
compiled = ov.compile_model(ov.Model([both, op.abs(both)], [x]), "CPU")

found = compiled(np.float32([-1, 2]))
np.testing.assert_array_equal(found[1], [1, 2, 1, 2])
np.testing.assert_array_equal(found[0], [-1, 2, -1, 2])

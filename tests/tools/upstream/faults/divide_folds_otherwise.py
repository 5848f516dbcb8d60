# title: Divide of integers is folded otherwise than it is executed
# component: OpenVINO, CPU plugin
# expected: Divide-1, attribute m_pythondiv (true by default): the quotient of integers is rounded down, wherever it is computed
# actual: -3 / 5 is -1 if OpenVINO folds it, and 0 if the plugin computes it
# issues: openvinotoolkit/openvino#38248
import numpy as np
import openvino as ov
from openvino import opset13 as op

a, b = np.array([-3], np.int32), np.array([5], np.int32)
x = op.parameter([1], np.int32)
at_run_time = op.divide(x, op.constant(b))
folded = op.add(op.divide(op.constant(a), op.constant(b)), op.subtract(x, x))
found = ov.compile_model(ov.Model([at_run_time, folded], [x]), "CPU")(a)

print("executed:", found[0], "folded:", found[1])
np.testing.assert_array_equal(found[0], found[1])

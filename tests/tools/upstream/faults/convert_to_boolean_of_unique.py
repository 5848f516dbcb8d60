# title: A Convert to boolean reads the first output of Unique, whichever it is connected to
# component: OpenVINO, CPU plugin
# expected: an operation reads the output port that its input is connected to
# actual: Convert of the counts converts the unique elements
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1], np.int32)
counts = op.unique(x, sorted=True).output(3)
compiled = ov.compile_model(ov.Model([op.convert(counts, "boolean")], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([0, 0, 1], np.int32))[0], [True, True])

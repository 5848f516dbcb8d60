# title: A Convert to boolean of an output of LSTMSequence, TopK or VariadicSplit is refused
# component: OpenVINO, CPU plugin
# expected: Convert-1: any numeric type is converted to boolean, whatever computes it
# actual: compile_model raises "Default output not supported", although the model is valid
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([4], np.float32)
places = op.topk(x, op.constant(np.int32(2)), 0, "max", "value").output(1)
compiled = ov.compile_model(ov.Model([op.convert(places, "boolean")], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.float32([7, 6, 0, 1]))[0], [False, True])

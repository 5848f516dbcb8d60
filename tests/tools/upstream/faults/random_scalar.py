# title: RandomUniform does not write a scalar
# component: OpenVINO, CPU plugin
# expected: RandomUniform-8: a number from the second operand on, below the third
# actual: the scalar is never written: in each inference it holds what its memory held before
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([], np.int32)
number = op.random_uniform(op.shape_of(x), op.constant(np.int32([5])), op.constant(np.int32([9])), "i32", 3, 4)
compiled = ov.compile_model(ov.Model([number], [x]), "CPU")

assert 5 <= compiled([np.int32(0)])[0] < 9

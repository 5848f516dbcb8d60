# title: Arithmetic after a reduction of 3-D integers is wrong in all but the first slice
# component: OpenVINO, CPU plugin
# expected: ReduceSum-1 and Subtract-1: the sum of each line, minus 1; without Subtract the sums are right
# actual: both are computed together, and only the slice 0 of the first axis is right: others are negated, or 0
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = np.arange(24, dtype=np.int32).reshape(4, 2, 3)
data = op.parameter(x.shape, np.int32)
sums = op.reduce_sum(data, op.constant(np.array([1])), keep_dims=True)
compiled = ov.compile_model(ov.Model([op.subtract(sums, op.constant(np.int32(1)))], [data]), "CPU")

np.testing.assert_array_equal(compiled(x)[0], x.sum(1, keepdims=True) - 1)

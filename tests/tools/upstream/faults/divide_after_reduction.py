# title: An integer quotient after a reduction is rounded up
# component: OpenVINO, CPU plugin
# expected: Divide-1: the quotient of integers is rounded down (or towards 0, as in ONNX), never up
# actual: Divide is fused with the reduction and computed in float32: 7 / 2 is 4
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([1], np.int32)
largest = op.reduce_max(x, op.constant(np.array([0])), keep_dims=True)
halves = op.divide(largest, op.constant(np.array([2], np.int32)))
compiled = ov.compile_model(ov.Model([halves], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([7], np.int32))[0], [3])

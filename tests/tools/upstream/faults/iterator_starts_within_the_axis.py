# title: TensorIterator begins at the end of an axis, whatever start says
# component: OpenVINO, CPU plugin
# expected: TensorIterator-1: start is an index where the iteration starts from, so slices from 1 on are 1, 2 and 3
# actual: 3 slices from the end of the axis on: 0, 1 and 2
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, part, state = op.parameter([4], np.float32), op.parameter([1], np.float32), op.parameter([1], np.float32)
following = op.add(op.multiply(state, op.constant(np.float32(10))), part)
body = ov.Model([op.result(following)], [part, state], "body")
iterator = op.tensor_iterator()
iterator.set_body(body)
iterator.set_sliced_input(part, x.output(0), 1, 1, 1, -1, 0)
iterator.set_merged_input(state, op.constant(np.zeros(1, np.float32)).output(0), body.results[0].output(0))
last = iterator.get_iter_value(body.results[0].output(0), -1)
compiled = ov.compile_model(ov.Model([op.result(last)], [x]), "CPU")

found = compiled(np.arange(4, dtype=np.float32))[0]
assert found == [123], found

# title: NonZero of a constant of one element is folded to a single row
# component: OpenVINO, constant folding
# expected: NonZero-3, "Detailed description": one row for each axis; the only element of a 3-D tensor is at [0, 0, 0]
# actual: only the first row of the folded result is written
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3, 1], np.int64)
for _ in range(200):
    _ = [ov.Tensor(np.full(3, 7)) for _ in range(100)]  # memory that is not 0, freed in the next iteration
    places = op.non_zero(op.constant(np.ones((1, 1, 1), np.float32)))
    compiled = ov.compile_model(ov.Model([op.add(x, places)], [x]), "CPU")
    np.testing.assert_array_equal(compiled(np.zeros((3, 1), np.int64))[0], np.zeros((3, 1)))

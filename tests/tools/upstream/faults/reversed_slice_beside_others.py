# title: A reversed StridedSlice beside another slice of the tensor is not reversed
# component: OpenVINO, transformations
# expected: StridedSlice-1: a stride of -1 takes the elements in reverse
# actual: the slices become parts of a VariadicSplit, in their order
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([5], np.float32)
parts = [
    op.strided_slice(x, *(op.constant(np.array([bound])) for bound in bounds), [0], [0]) for bounds in ((0, 1, 1), (-1, 0, -1))
]
compiled = ov.compile_model(ov.Model([op.concat(parts, 0)], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

np.testing.assert_array_equal(compiled(np.arange(5, dtype=np.float32))[0], [0, 4, 3, 2, 1])

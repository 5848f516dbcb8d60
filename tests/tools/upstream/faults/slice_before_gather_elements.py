# title: A Slice before GatherElements is dropped, which changes what negative indices select
# component: OpenVINO, transformations
# expected: GatherElements-6: -1 is the last element of data, which is the result of the Slice
# actual: the Slice disappears: -1 selects the last element before slicing
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, i = np.float32([1, 2, 3, 4]), np.array([-1, 0], np.int32)
data, indices = op.parameter([4], np.float32), op.parameter([2], np.int32)
first, end, one, axis = (op.constant(np.array([number])) for number in (0, 3, 1, 0))
gathered = op.gather_elements(op.slice(data, first, end, one, axis), indices, 0)
compiled = ov.compile_model(ov.Model([gathered], [data, indices]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

np.testing.assert_array_equal(compiled([x, i])[0], x[:3][i])

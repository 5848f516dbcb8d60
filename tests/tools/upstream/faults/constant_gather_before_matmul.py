# title: A batched MatMul misreads a GatherElements of constants
# component: OpenVINO, CPU plugin
# expected: GatherElements-6, "Detailed description": each output element is the element of data at its index
# actual: the MatMul reads the folded result in another layout, so that most products are wrong
import numpy as np
import openvino as ov
from openvino import opset13 as op

rng = np.random.default_rng(0)
data = rng.standard_normal((4, 3, 5), np.float32)
indices = rng.integers(0, 4, (4, 3, 5))
x = rng.standard_normal((3, 2, 5), np.float32)

left = op.parameter(x.shape, np.float32)
gathered = op.gather_elements(op.constant(data), op.constant(indices), 0)
right = op.transpose(gathered, op.constant(np.array([1, 0, 2])))
product = op.matmul(left, right, False, True)
compiled = ov.compile_model(ov.Model([product], [left]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

expected = x @ np.take_along_axis(data, indices, 0).transpose(1, 2, 0)
np.testing.assert_allclose(compiled(x)[0], expected, atol=1e-5)

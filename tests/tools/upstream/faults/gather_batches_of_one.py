# title: Gather with batch dimensions of size 1 reads unrelated memory
# component: OpenVINO, CPU plugin
# expected: Gather-8, "Detailed description": with batch_dims = 1, output[b, i] is data[b, indices[b, i]]
# actual: the plugin returns elements that are not in data, or crashes
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = np.arange(1, 16, dtype=np.float32).reshape(1, 5, 3)
rows = np.array([[4, 0, 2, 3]], np.int32)

data = op.parameter(x.shape, np.float32)
indices = op.parameter(rows.shape, np.int32)
gathered = op.gather(data, indices, op.constant(1), 1)
compiled = ov.compile_model(ov.Model([gathered], [data, indices]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

np.testing.assert_array_equal(compiled([x, rows])[0], x[:, rows[0]])

# title: A bidirectional Broadcast to a shape without elements returns elements
# component: OpenVINO, transformation ConvertBroadcast3
# expected: Broadcast-3, "Detailed description", mode bidirectional: as in NumPy, 1 broadcast to 0 is 0
# actual: shape inference gives [0, 4], but the output has the shape [1, 4]
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([1, 1], np.float32)
spread = op.broadcast(data, op.constant(np.array([0, 4])), broadcast_spec="BIDIRECTIONAL")
print("inferred:", spread.output(0).partial_shape)
compiled = ov.compile_model(ov.Model([spread], [data]), "CPU")

found = compiled(np.zeros((1, 1), np.float32))[0]
assert found.shape == (0, 4), found.shape

# title: A bidirectional Broadcast of a tensor without elements is refused
# component: OpenVINO, transformation ConvertBroadcast3
# expected: Broadcast-3, "Detailed description", mode bidirectional: as in NumPy, dimensions of 0 and 1 give 0
# actual: OpenVINO raises while it compiles, although shape inference of the same operation gives [0, 4]
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([0, 1], np.float32)
spread = op.broadcast(data, op.constant(np.array([1, 4])), broadcast_spec="BIDIRECTIONAL")
print("inferred:", spread.output(0).partial_shape)
compiled = ov.compile_model(ov.Model([spread], [data]), "CPU")

assert compiled(np.zeros((0, 1), np.float32))[0].shape == (0, 4)

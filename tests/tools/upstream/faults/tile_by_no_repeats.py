# title: Tile of a scalar by no repeats is uninitialized memory
# component: OpenVINO, CPU plugin
# expected: Tile-1: data of rank 0 and repeats without elements give data itself
# actual: any number; the process ends (SIGSEGV) if the repeats are an input
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, z = op.parameter([], np.float32), op.parameter([], np.float32)
tiled = op.tile(x, op.shape_of(z))
compiled = ov.compile_model(ov.Model([tiled], [x, z]), "CPU")

assert compiled([np.float32(3), np.float32(2)])[0] == 3

# title: Folding a TopK of more elements than there are writes memory outside of its outputs
# component: OpenVINO, constant folding
# expected: an error, as for data that are known at run time: "K (3) exceeds the axis dimension (2)"
# actual: the evaluation writes behind its outputs, and the process ends in compile_model
import numpy as np
import openvino as ov
from openvino import opset13 as op

largest = op.topk(op.constant(np.arange(2000, dtype=np.int32).reshape(1000, 2)), op.constant(np.int32(3)), 1, "max", "value")
try:
    ov.compile_model(ov.Model([largest.output(0), largest.output(1)], []), "CPU")
except RuntimeError as error:
    print("refused:", str(error).strip().splitlines()[-1])

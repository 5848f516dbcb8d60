# title: A model whose state has 64-bit integers cannot be executed
# component: OpenVINO, CPU plugin
# expected: ReadValue-6, "Outputs": the state may have any supported type; the plugin takes i64 elsewhere
# actual: "CPU plugin does not support i64 for use with oneDNN"
import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino.op.util import Variable, VariableInfo

info = VariableInfo()
info.data_shape, info.data_type, info.variable_id = ov.PartialShape([2]), ov.Type.i64, "sum"
variable = Variable(info)
x = op.parameter([2], np.int64)
total = op.add(op.read_value(op.constant(np.array([0, 0])), variable), x)
model = ov.Model([op.result(total)], [op.assign(total, variable)], [x], "m")

request = ov.compile_model(model, "CPU").create_infer_request()
request.infer([np.array([1, 2])])
np.testing.assert_array_equal(request.infer([np.array([1, 2])])[0], [2, 4])

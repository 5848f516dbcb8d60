# title: A region of an i64 tensor is no input for a model
# component: OpenVINO, CPU plugin
# expected: ov::Tensor(const Tensor&, begin, end): an inference takes a region as it takes a tensor; i32 and f32 work
# actual: "CPU plugin does not support i64 for use with oneDNN"; f64, i16 and u32 fail the same way
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = np.arange(64).reshape(8, 8)
data = op.parameter([-1, -1], np.int64)
request = ov.compile_model(ov.Model([op.convert(data, "f32")], [data]), "CPU").create_infer_request()
region = ov.Tensor(ov.Tensor(x), ov.Coordinate([0, 0]), ov.Coordinate([8, 3]))
request.set_input_tensor(region)

request.infer()
np.testing.assert_array_equal(request.get_output_tensor().data, x[:, :3])

# title: Constants of uint32 in uint64_data, and of bfloat16 in int32_data, are misread
# component: OpenVINO, ONNX front end
# expected: ONNX TensorProto: uint64_data may hold uint32, each number as one of 64 bits
# actual: each number is read as two of uint32: 1, 2, 3 become 1, 0, 2
import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper

numbers = TensorProto(name="k", data_type=TensorProto.UINT32, dims=[3], uint64_data=[1, 2, 3])
nodes = [helper.make_node("Cast", ["k"], ["y"], to=TensorProto.FLOAT)]
output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
graph = helper.make_graph(nodes, "g", [], [output], [numbers])
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
onnx.checker.check_model(proto)
found = ov.compile_model(ov.Core().read_model(proto.SerializeToString()), "CPU")([])[0]

np.testing.assert_array_equal(found, [1, 2, 3])

# title: After an inference that raises, a request of the earlier shape gets wrong sizes
# component: OpenVINO, CPU plugin
# expected: each inference computes its outputs from its inputs, whatever inferences before it have done
# actual: the sizes of the failed inference are kept: the output of the next inference of an earlier shape has the failed one's
import numpy as np
import openvino as ov
from openvino import opset13 as op

table = np.arange(20, dtype=np.float32).reshape(5, 4)
ids = op.parameter([-1, 3], np.int32)
scale = op.parameter([-1, 1, 1], np.float32)
rows = op.gather(op.constant(table), ids, op.constant(0))
request = ov.compile_model(ov.Model([op.multiply(rows, scale)], [ids, scale]), "CPU").create_infer_request()


def infer(batch, scales):
    request.start_async({0: np.ones((batch, 3), np.int32), 1: np.ones((scales, 1, 1), np.float32)})
    request.wait()
    return request.get_output_tensor(0).data.copy()


np.testing.assert_array_equal(infer(1, 1)[0], table[[1, 1, 1]])
try:
    infer(2, 3)  # 2 and 3 are no sizes to broadcast
except RuntimeError:
    print("refused, as it should be")
np.testing.assert_array_equal(infer(1, 1), table[[[1, 1, 1]]])

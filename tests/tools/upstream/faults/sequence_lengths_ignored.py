# title: LSTMSequence, GRUSequence and RNNSequence ignore the lengths of sequences if a size of the data is open
# component: OpenVINO, CPU plugin
# expected: RNNSequence-5: the states of a sequence are those of its last element; what follows in the first output is 0
# actual: the steps go on behind the end of shorter sequences
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, lengths = op.parameter([1, -1, 1], np.float32), op.parameter([1], np.int32)
zero, one = (op.constant(np.full((1, 1, 1), number, np.float32)) for number in (0, 1))
bias = op.constant(np.zeros((1, 1), np.float32))
sequence = op.rnn_sequence(x, zero, lengths, one, one, bias, 1, "forward", ["relu"])
compiled = ov.compile_model(ov.Model([sequence.output(0), sequence.output(1)], [x, lengths]), "CPU")

outputs = compiled([np.float32([[[1], [2], [4]]]), np.int32([2])])
np.testing.assert_array_equal(outputs[0].ravel(), [1, 3, 0])
np.testing.assert_array_equal(outputs[1].ravel(), [3])

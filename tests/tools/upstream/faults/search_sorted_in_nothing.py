# title: SearchSorted in a sequence without elements returns uninitialized memory
# component: OpenVINO, CPU plugin
# expected: SearchSorted-15, "Detailed description": the place where the value is to be inserted, which is 0
# actual: places are whatever was in memory
import numpy as np
import openvino as ov
from openvino import opset15 as op

x, sequence = op.parameter([-1], np.int32), op.parameter([-1], np.int32)
compiled = ov.compile_model(ov.Model([op.search_sorted(sequence, x)], [sequence, x]), "CPU")

for values in ([-5, 2, 0], [1, 2, 3, 4, 5], [7] * 1000):
    found = compiled([np.zeros(0, np.int32), np.array(values, np.int32)])[0]
    np.testing.assert_array_equal(found, np.zeros(len(values)))

"""ONNX's own cases for the family on our kernels, bit by bit."""

import subprocess
import sys
from collections import Counter

import pytest

EVALUATE = """
import numpy as np, warnings
from collections import Counter
import onnx.helper
warnings.simplefilter("ignore")  # the generators of other operators divide by zero on purpose
from onnx.backend.test.case.node import collect_testcases
from ov_gather import gather, gather_elements, gather_nd, scatter_elements

KERNELS = {
    "Gather": lambda data, indices, axis=0: gather(data, indices, axis),
    "GatherElements": lambda data, indices, axis=0: gather_elements(data, indices, axis),
    "GatherND": lambda data, indices, batch_dims=0: gather_nd(data, indices, batch_dims),
    "ScatterElements": lambda data, indices, updates, axis=0, reduction=b"none": scatter_elements(
        data, indices, updates, axis, reduction=reduction.decode()
    ),
}
for case in collect_testcases(None):
    (node, *others) = case.model.graph.node
    if node.op_type in KERNELS and not others:
        attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        for inputs, (expected,) in case.data_sets:
            output = KERNELS[node.op_type](*inputs, **attributes)
            assert output.dtype == expected.dtype and output.tobytes() == expected.tobytes(), case.name
            print(node.op_type)
"""


@pytest.mark.slow
def test_every_case_of_the_family():
    """The cases run in a process of their own, as their collection is global, and made once."""
    done = subprocess.run([sys.executable, "-c", EVALUATE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Counter(done.stdout.split()) == {"Gather": 4, "GatherElements": 3, "GatherND": 3, "ScatterElements": 7}

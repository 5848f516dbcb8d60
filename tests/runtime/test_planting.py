"""Planted faults leave models well-defined: a Gather along another axis reads inside of its data, and keeps its shape."""

import random

import numpy as np
import pytest

from helpers.bisecting import as_ir
from helpers.planting import candidates
from ov_gather.ir.reader import read_ir


@pytest.mark.parametrize(
    ("rows", "indices", "is_planted"),
    [
        (4, [3, 0, -4, 1], True),
        (3, [2, 0, 1, 2], False),  # along axis 0 it would give 4 rows where 3 are declared
        (3, [3, 0, 1, 2], False),  # and 3 is no row
    ],
)
def test_gather_along_another_axis(tmp_path, rows, indices, is_planted):
    text = f"(float[{rows},4] x) => (float[{rows},4] y) {{ y = Gather <axis = 1> (x, order) }}"
    _, ir = as_ir(tmp_path, text, order=indices)
    (way,) = candidates(read_ir(ir), "axis")
    assert (way(random.Random(0)) is not None) == is_planted


def test_gather_elements_along_another_axis(tmp_path):
    text = "(float[3,4] x) => (float[3,4] y) { y = GatherElements <axis = 1> (x, places) }"
    for last, count in ((2, 1), (3, 0)):
        _, ir = as_ir(tmp_path, text, places=np.array([[0, 1, last, 2], [0, 1, 0, 0], [1, 2, 2, 1]]))
        ways = candidates(read_ir(ir), "axis")
        assert sum(way(random.Random(0)) is not None for way in ways) == count

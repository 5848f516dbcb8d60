"""Planted faults leave models well-defined: a Gather along another axis reads inside of its data, and keeps its shape."""

import random

import onnx
import openvino as ov
import pytest

from helpers.planting import candidates
from ov_gather.ir.reader import read_ir

pytestmark = pytest.mark.openvino

GATHER = """<ir_version: 9, opset_import: ["": 18]> g (float[ROWS,4] x) => (float[ROWS,4] y) <int64[4] order = {INDICES}> {
    y = Gather <axis = 1> (x, order) }"""


@pytest.mark.parametrize(
    ("rows", "indices", "is_planted"),
    [
        (4, "3, 0, -4, 1", True),
        (3, "2, 0, 1, 2", False),  # along axis 0 it would give 4 rows where 3 are declared
        (3, "3, 0, 1, 2", False),  # and 3 is no row
    ],
)
def test_gather_along_another_axis(tmp_path, rows, indices, is_planted):
    text = GATHER.replace("ROWS", str(rows)).replace("INDICES", indices)
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    ov.save_model(ov.Core().read_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    (way,) = candidates(read_ir(tmp_path / "model.xml"), "axis")
    assert (way(random.Random(0)) is not None) == is_planted


def test_gather_elements_along_another_axis(tmp_path):
    text = """<ir_version: 9, opset_import: ["": 18]> g (float[3,4] x) => (float[3,4] y)
        <int64[3,4] places = {0, 1, LAST, 2, 0, 1, 0, 0, 1, 2, 2, 1}> {
        y = GatherElements <axis = 1> (x, places) }"""
    for last, count in (("2", 1), ("3", 0)):
        onnx.save(onnx.parser.parse_model(text.replace("LAST", last)), tmp_path / "model.onnx")
        ov.save_model(ov.Core().read_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
        ways = candidates(read_ir(tmp_path / "model.xml"), "axis")
        assert sum(way(random.Random(0)) is not None for way in ways) == count

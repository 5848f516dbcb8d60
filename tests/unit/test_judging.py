"""Layers judged by contracts: each by its own inputs, whatever was judged before it."""

import pytest

from ov_gather import validate
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir


@pytest.mark.parametrize("like_ones_before", [0, 2])
def test_what_reads_a_wrong_shape_is_judged_by_the_right_one(tmp_path, like_ones_before):
    """A Concat of what declares [2,4] and is [2,3] has 7 columns, though like ones, which are fine, have 8."""
    builder = ModelBuilder("judged")
    right, other = (builder.parameter(name, F32, PartialShape.of((2, size))) for name, size in (("x", 3), ("y", 4)))
    for number in range(like_ones_before):
        made = builder.layer("Abs", f"fine{number}", "opset1", {}, [other], [(F32, PartialShape.of((2, 4)))])
        (joined,) = builder.layer(
            "Concat", f"c{number}", "opset1", {"axis": "1"}, [*made, other], [(F32, PartialShape.of((2, 8)))]
        )
        builder.result(f"r{number}", joined)
    made = builder.layer("Abs", "wrong", "opset1", {}, [right], [(F32, PartialShape.of((2, 4)))])
    (joined,) = builder.layer("Concat", "last", "opset1", {"axis": "1"}, [*made, other], [(F32, PartialShape.of((2, 8)))])
    builder.result("r", joined)
    write_ir(builder.build(), tmp_path / "m.xml")
    assert [(found.rule, found.location.layer_name) for found in validate(tmp_path / "m.xml")] == [
        ("OVG403", "wrong"),
    ]

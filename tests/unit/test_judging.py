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


def test_a_size_that_is_declared_open_is_no_error(tmp_path):
    """Tools that infer less than today's OpenVINO write -1; of the gather family all is inferred everywhere."""
    builder = ModelBuilder("open")
    data = builder.parameter("x", F32, PartialShape.of((2, 3)))
    (value,) = builder.layer("Abs", "abs", "opset1", {}, [data], [(F32, PartialShape.of((2, -1)))])
    builder.result("y", value)
    write_ir(builder.build(), tmp_path / "m.xml")
    assert validate(tmp_path / "m.xml") == []
    text = (tmp_path / "m.xml").read_text()
    assert text.count("<dim>-1</dim>") == 2
    (tmp_path / "m.xml").write_text(text.replace("<dim>-1</dim>", "<dim>4</dim>"))
    assert [found.rule for found in validate(tmp_path / "m.xml")] == ["OVG403"]

"""`validate --infer`: declared outputs against what OpenVINO infers, for every operation, in sub-graphs too."""

import re
import shutil

import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.openvino_models import made_of, number
from ov_gather import validate


@pytest.fixture
def sum_of_rows(tmp_path):
    """An IR whose ReduceSum drops a dimension."""
    ov.serialize(made_of(lambda data: ops.reduce_sum(data, number([1]), name="total"), data="f32[2,3]"), tmp_path / "sum.xml")
    return tmp_path / "sum.xml"


def drift(path):
    return [finding for finding in validate(path, infer=True) if finding.rule == "OVG407"]


def test_what_openvino_writes_does_not_drift(sum_of_rows, samples):
    assert validate(sum_of_rows, infer=True) == []
    for path in (samples / "valid").glob("*.xml"):
        assert validate(path, infer=True) == []


def test_a_dimension_too_many(sum_of_rows):
    text = sum_of_rows.read_text()
    one = "<dim>2</dim>\n				</port>"
    assert text.count(one) == 2  # one finding for the output of ReduceSum, one for the input of Result
    sum_of_rows.write_text(text.replace(one, "<dim>2</dim>\n					<dim>1</dim>\n				</port>"))
    assert validate(sum_of_rows) == []
    (finding,) = drift(sum_of_rows)
    assert finding.message == "declares FP32 of dims [2, 1], but OpenVINO infers f32 of [2]"
    assert (finding.location.layer_name, finding.location.layer_type, finding.location.port) == ("total", "ReduceSum", 2)


def test_another_type(sum_of_rows):
    one = 'precision="FP32"'
    before, output, after = sum_of_rows.read_text().rsplit(one, 2)  # one finding for ReduceSum, one for Result
    sum_of_rows.write_text('precision="FP16"'.join([before, output, after]))
    assert [finding.message for finding in drift(sum_of_rows)] == ["declares FP16 of dims [2], but OpenVINO infers f32 of [2]"]


def test_in_the_body_of_a_loop(samples, tmp_path):
    for file in (samples / "valid").glob("loop.*"):
        shutil.copy(file, tmp_path)
    outside, body = (tmp_path / "loop.xml").read_text().split("<body>")
    operation = re.search(r'name="([^"]*)" type="(?!Parameter|Const|Result)', body)
    output = body.index("<output>", operation.end())
    broken = body[:output] + body[output:].replace('precision="FP32"', 'precision="FP64"', 1)
    (tmp_path / "loop.xml").write_text(f"{outside}<body>{broken}")
    (finding,) = [
        finding for finding in validate(tmp_path / "loop.xml", infer=True, ignore=["OVG3"]) if finding.rule == "OVG407"
    ]
    assert finding.location.layer_name == operation[1]
    assert finding.location.subgraph_path[-1] == "body"


def test_a_model_that_openvino_refuses(sum_of_rows):
    text = sum_of_rows.read_text()
    sum_of_rows.write_text(text.replace('type="ReduceSum" version="opset1"', 'type="Own" version="mine"'))
    (finding,) = drift(sum_of_rows)
    assert finding.message.startswith("OpenVINO refuses the model: ")


def test_only_what_is_sound_is_given_to_openvino(samples):
    assert drift(samples / "invalid" / "OVG103" / "two_edges.xml") == []


@pytest.mark.slow
def test_command_line(cli, samples):
    assert cli("validate", samples / "valid", "--infer").returncode == 0

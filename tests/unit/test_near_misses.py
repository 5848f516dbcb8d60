"""What looks like a violation and is none: each is a valid sample, changed within what IR allows."""

import re

import pytest

from helpers.paths import VALID
from ov_gather import validate

UNUSED = """<layer id="20" name="unused" type="Parameter" version="opset1"><data shape="" element_type="f32" />
<output><port id="0" precision="FP32" /></output></layer></layers>"""
SHARED = """<layer id="20" name="again" type="Const" version="opset1">
<data element_type="i64" shape="2" offset="236" size="16" /><output><port id="0" precision="I64"><dim>2</dim></port></output>
</layer><layer id="21" name="out" type="Result" version="opset1"><input><port id="0" precision="I64"><dim>2</dim></port></input>
</layer></layers>"""

# For each rule a sample, the text that is replaced in the sample, and the text that takes its place.
NEAR_MISSES = {
    "OVG006: an element in rt_info, where all may stand": (
        "loop",
        ("<rt_info />", "<rt_info><layer><layer /></layer></rt_info>"),
    ),
    "OVG009: a section of old converters": (
        "loop",
        ("<rt_info />", '<rt_info /><meta_data><MO_version value="1" /></meta_data>'),
    ),
    "OVG105: a later opset holds the operation, too": (
        "detector_with_state",
        ('"TopK" version="opset11"', '"TopK" version="opset16"'),
    ),
    "OVG106: an enumeration of another case": ("detector_with_state", ('mode="max"', 'mode="MAX"')),
    "OVG112: a Parameter that nothing reads": ("detector_with_state", ("</layers>", UNUSED)),
    "OVG115: a comma within a tensor name": ("detector_with_state", ('names="image"', r'names="top\,image"')),
    "OVG116: an input and an output of one id": (
        "loop",
        ('<port id="1" precision="FP32" />', '<port id="0" precision="FP32" />'),
        ('from-layer="4" from-port="1"', 'from-layer="4" from-port="0"'),
    ),
    "OVG117: port ids with a gap": (
        "detector_with_state",
        ('<port id="1" precision="I64" />\n\t\t\t</input>', '<port id="7" precision="I64" />\n\t\t\t</input>'),
        ('to-layer="9" to-port="1"', 'to-layer="9" to-port="7"'),
    ),
    "OVG203: a boolean as a digit": ("detector_with_state", ('special_zero="false"', 'special_zero="0"')),
    "OVG203: an exponent": ("detector_with_state", ('max="3.5"', 'max="35e-1"')),
    "OVG203: a list without blanks": ("detector_with_state", ('strides="2, 2"', 'strides="2,2"')),
    "OVG205: Result names its tensors": ("detector_with_state", ('output_names="top"', 'output_names="top,best"')),
    "OVG207: a hint of OpenVINO's own": ("detector_with_state", ("<data special", '<data PrimitivesPriority="x" special')),
    "OVG301: a port's precision as an element type": ("spec_layer", ('precision="I64"', 'precision="i64"')),
    "OVG504: two Consts of one payload": (
        "detector_with_state",
        ("</layers>", SHARED),
        ("</edges>", '<edge from-layer="20" from-port="0" to-layer="21" to-port="0" /></edges>'),
    ),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses(copied, name):
    sample, *changes = NEAR_MISSES[name]
    assert validate(copied(f"valid/{sample}", changes=[(*change, 1) for change in changes])) == []


def test_layers_may_stand_in_any_order(copied):
    text = (VALID / "detector_with_state.xml").read_text()
    layers = re.findall(r"\t\t<layer .*?</layer>\n", text, re.DOTALL)
    changes = [("".join(layers), "".join(reversed(layers)))]
    assert validate(copied("valid/detector_with_state", changes=changes)) == []


@pytest.mark.parametrize("version", ["extension", "experimental"])
def test_types_that_openvino_finds_without_an_opset(version):
    xml = f'<layer id="0" name="l" type="GRUCell" version="{version}" />'
    assert validate(xml.encode(), select=["OVG105", "OVG106", "OVG107"]) == []
    assert [finding.rule for finding in validate(xml.replace("GRUCell", "LSTMCell").encode(), select=["OVG1"])] == ["OVG107"]


def test_a_model_may_end_in_an_assign_alone():
    xml = """<net name="n" version="11"><layers><layer id="0" name="a" type="Assign" version="opset6">
    <data variable_id="v" /></layer></layers></net>"""
    assert validate(xml.encode(), select=["OVG113"]) == []

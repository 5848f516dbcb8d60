"""What looks like a violation of a rule and is none, and computed indices that are out of bounds in every run (OVG603)."""

import re

import pytest

from helpers.paths import SAMPLES, VALID
from ov_gather import prove, validate

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


FOLDER = SAMPLES / "invalid" / "OVG603"


@pytest.fixture
def sample(copied):
    """A function that copies a sample with some changes, and returns its path."""
    return lambda name, *changes: copied(f"invalid/OVG603/{name}", changes=changes)


def test_the_range_and_the_size_are_told():
    (finding,) = validate(FOLDER / "one_past_the_end.xml")
    assert finding.message == "indices are 5..9, out of bounds of axis 0 of size 5, in every run that gets here"
    assert finding.location.port == 1


def test_sizes_may_be_open():
    (finding,) = validate(FOLDER / "size_as_index.xml")
    assert finding.message == "indices are dim(x, 0), out of bounds of axis 0 of size dim(x, 0), in every run that gets here"


@pytest.mark.parametrize(
    ("name", "replacement"),
    [
        ("one_past_the_end", ('min="0"', 'min="-1"')),  # some indices are in bounds
        ("one_past_the_end", ('max="4"', 'max="x"')),  # the range is not known
        ("one_past_the_end", ('type="Add"', 'type="Subtract"')),  # -5..-1 counts from the end
        ("size_as_index", ('type="ShapeOf" version="opset3"', 'type="Ceiling" version="opset1"')),
    ],
)
def test_indices_that_may_be_in_bounds(sample, name, replacement):
    assert [finding for finding in validate(sample(name, replacement)) if finding.rule == "OVG603"] == []


def test_below_the_first_index(sample):
    path = sample("one_past_the_end", ('type="Add"', 'type="Subtract"'), ('max="4"', 'max="-1"'), ('min="0"', 'min="-9"'))
    (finding,) = validate(path)
    assert finding.message.startswith("indices are -14..-6, out of bounds of axis 0 of size 5")
    (proof,) = prove(path)
    assert proof.witness.error == "gather: index -6 is out of bounds for axis 0 of size 5 (valid -5..4)"


def test_worse_errors_come_first(sample):
    path = sample("one_past_the_end", ('type="Add"', 'type="Ad"'))
    assert [finding.rule for finding in validate(path)] == ["OVG106"]


def test_constant_indices_are_not_reported_twice():
    (finding,) = validate(SAMPLES / "invalid" / "OVG601" / "too_large.xml")
    assert finding.rule == "OVG601"
    (proof,) = prove(SAMPLES / "invalid" / "OVG601" / "too_large.xml")
    assert (proof.status, proof.witness.index) == ("refuted", 3)


def test_an_index_of_an_axis_of_a_huge_size_takes_no_memory(sample):
    """The table is an input of 2^30 rows; the index is the size, and so one too many."""
    path = sample("size_as_index", ('shape="?,4"', f'shape="{2**30},4"'), ("<dim>-1</dim>", f"<dim>{2**30}</dim>"))
    (*_, proof) = prove(path)
    assert (proof.status, proof.witness.size) == ("refuted", 2**30)


CLAMP = """<layer id="10" name="clamp" type="Clamp" version="opset1"><data min="4" max="9" />
<input><port id="0" precision="I32"><dim>4</dim><dim>6</dim></port></input>
<output><port id="1" precision="I32"><dim>4</dim><dim>6</dim></port></output></layer></layers>"""
EDGE = '<edge from-layer="1" from-port="0" to-layer="2" to-port="1" />'
EDGES = EDGE.replace('"2" to-port="1"', '"10" to-port="0"') + EDGE.replace('"1" from-port="0"', '"10" from-port="1"')


@pytest.mark.parametrize("is_inside", [True, False])
def test_in_a_sub_graph(is_inside):
    """Indices are clamped to 4..9, in the first branch or before both. Only the first indexes an axis of size 4."""
    text = (SAMPLES / "valid" / "if_bodies.xml").read_text()
    if is_inside:
        text = text.replace("</layers>", CLAMP, 1).replace(EDGE, EDGES, 1)
    else:
        edge = '<edge from-layer="2" from-port="0" to-layer="3" to-port="2" />'
        edges = edge.replace('"3" to-port="2"', '"10" to-port="0"') + edge.replace('"2" from-port="0"', '"10" from-port="1"')
        before, _, after = text.rpartition("</layers>")
        text = (before + CLAMP + after).replace(edge, edges)
    (finding,) = validate(text.encode())
    assert (finding.rule, finding.location.layer_name) == ("OVG603", "gather_axis_0")
    assert finding.location.subgraph_path == ("If 'choose_axis'", "then_body")


@pytest.mark.parametrize("rules", [(), ("OVG603",)])
def test_a_broken_model_is_no_fault_of_ours(rules):
    """Each layer loses its inputs, its outputs, or its attributes; and each id stands twice."""
    text = (FOLDER / "one_past_the_end.xml").read_text()
    for part in ("input", "output"):
        for section in re.findall(f"<{part}>.*?</{part}>", text, re.S):
            validate(text.replace(section, "").encode(), select=rules)
    for data in re.findall("<data [^>]*>", text):
        validate(text.replace(data, "").encode(), select=rules)
    for number in re.findall('<layer id="([0-9]+)"', text):
        validate(text.replace(f'<layer id="{number}"', '<layer id="0"').encode(), select=rules)

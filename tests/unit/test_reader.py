"""What the reader makes of a document, and on which line it found it."""

import io
import weakref

import pytest
from lxml import etree

from ov_gather import IRError, cross_check, read_ir, validate
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ir.location import Location
from ov_gather.ir.model import Edge
from ov_gather.ir.shapes import UNKNOWN, PartialShape


def test_whole_ir(samples):
    model = read_ir(samples / "valid" / "dynamic_shapes.xml")
    data, indices, gather, result = model.layers
    assert (model.name, model.version, model.is_fragment) == ("dynamic_shapes", 11, False)
    assert [layer.type for layer in model.layers] == ["Parameter", "Parameter", "GatherElements", "Result"]
    assert (gather.id, gather.name, gather.version, gather.attributes) == (2, "gather", "opset6", {"axis": "-2"})
    assert [port.id for port in (*gather.inputs, *gather.outputs)] == [0, 1, 2]
    assert gather.outputs[0].dims == (-1, -1, -1)
    assert gather.outputs[0].attributes == {"names": "output"}
    assert str(data.declared_shape) == "[?,1..5,3..9]"
    assert str(indices.declared_type) == "i64"
    assert result.extra == {"output_names": "output"}
    assert model.edges[1] == Edge(1, 0, 2, 1)
    assert model.producer(gather, gather.inputs[1]) == (indices, indices.outputs[0])


def test_lines(samples):
    path = samples / "valid" / "spec_layer.xml"
    text = path.read_text().splitlines()
    model = read_ir(path)
    gather = model.layers[2]
    assert 'type="GatherElements"' in text[gather.line - 1]
    assert "<data axis" in text[gather.data_line - 1]
    assert '<port id="2"' in text[gather.line + gather.outputs[0].below - 1]
    assert 'to-layer="3"' in text[model.edges[2].line - 1]


def test_a_model_is_freed_with_its_last_reference(samples):
    with paused_collection():
        model = read_ir(samples / "valid" / "compressed_weights.xml")
        reference = weakref.ref(model)
        del model
        assert reference() is None


def test_fragment(samples):
    model = read_ir(samples / "valid" / "spec_layer_fragment.xml")
    (layer,) = model.layers
    assert model.is_fragment
    assert (layer.id, layer.name, layer.version) == (0, "", None)
    assert layer.inputs[1].precision is None
    assert layer.inputs[1].shape == PartialShape.of([3, 10, 5])


def test_sub_graph_bodies(samples):
    model = read_ir(samples / "valid" / "if_bodies.xml")
    paths = [subgraph_path for subgraph_path, _ in model.walk()]
    assert paths == [(), ("If 'choose_axis'", "then_body"), ("If 'choose_axis'", "else_body")]
    (branch,) = [layer for layer in model.layers if layer.type == "If"]
    assert [section.tag for section in branch.sections] == ["else_port_map", "then_port_map"]
    assert branch.bodies[0].layers[2].attributes == {"axis": "0"}


def test_sources(samples):
    path = samples / "valid" / "spec_layer.xml"
    model = read_ir(path)
    assert read_ir(str(path)) == read_ir(path.read_bytes()) == read_ir(io.BytesIO(path.read_bytes())) == model
    with path.open("rb") as file:
        assert read_ir(file) == model


def test_lxml_elements_and_trees(samples, tmp_path):
    path = samples / "valid" / "onnx_page_1.xml"
    model = read_ir(path)
    tree = etree.parse(path)
    for source in (tree, tree.getroot()):
        again = read_ir(source)
        assert again == model
        assert again.path == str(path)  # the .bin is beside this file
    assert read_ir(etree.fromstring(path.read_bytes()), path.with_suffix(".bin")) == model
    with pytest.raises(IRError, match=r"no \.bin to read it from"):
        read_ir(etree.fromstring(path.read_bytes()))


def test_cross_check_of_a_tree(samples):
    assert cross_check(etree.parse(samples / "valid" / "onnx_page_1.xml"), runtimes=["kernel"]).passed


def test_a_layer_of_a_tree_is_a_fragment(samples):
    path = samples / "valid" / "onnx_page_1.xml"
    model = read_ir(path)
    tree = etree.parse(path)
    for layer in model.layers:
        (element,) = tree.xpath(f"//layer[@id={layer.id}]")
        fragment = read_ir(element)
        assert fragment.is_fragment
        assert fragment.layers == (layer,)


def test_a_changed_tree_is_read_as_it_is_now(samples):
    path = samples / "valid" / "spec_layer.xml"
    root = etree.parse(path).getroot()
    root.find(".//layer[@type='GatherElements']/data").set("axis", "9")
    root.insert(0, etree.Comment("é <layers>"))
    assert read_ir(root).layers[2].attributes == {"axis": "9"}
    (finding,) = validate(root, select=["OVG204"])
    assert (finding.rule, finding.location.path, finding.location.layer_id) == ("OVG204", str(path), 2)
    assert 'type="GatherElements"' in etree.tostring(root, encoding="unicode").splitlines()[finding.location.line - 2]


def test_what_is_wrong_with_a_tree_is_a_finding():
    (finding,) = validate(etree.fromstring("<html/>"))
    assert (finding.rule, finding.location.path) == ("OVG003", "<memory>")
    (finding,) = validate(etree.ElementTree(etree.fromstring('<!DOCTYPE net [<!ENTITY a "b">]><net/>')))
    assert finding.rule == "OVG002"
    for source in (3, None, etree):
        with pytest.raises(TypeError, match="an IR is read from a path, bytes"):
            read_ir(source)


def test_given_weights(samples):
    path = samples / "valid" / "onnx_page_1.xml"
    with pytest.raises(IRError, match=r"no \.bin to read it from"):
        read_ir(path.read_bytes())
    weights = path.with_suffix(".bin")
    assert read_ir(path.read_bytes(), weights.read_bytes()) == read_ir(path.read_bytes(), weights) == read_ir(path)


def test_a_port_without_dims_has_an_open_rank(samples):
    model = read_ir(samples / "divergent" / "no-dynamic-rank" / "dynamic_rank.xml")
    assert model.layers[2].inputs[0].shape == UNKNOWN
    assert model.layers[0].declared_shape == UNKNOWN


def test_errors_tell_file_line_and_layer(samples):
    path = samples / "invalid" / "OVG007" / "dim_with_letters.xml"
    with pytest.raises(IRError) as caught:
        read_ir(path)
    error = caught.value
    assert (error.path, error.line, error.layer) == (str(path), 9, "Parameter 'data' (layer 0)")
    assert str(error) == (
        f"{path}:9: Parameter 'data' (layer 0): <dim> '7abc' is not a whole number from 0 to 2^63-1 "
        "(a <dim> may also be -1: any size)"
    )


IN_A_BODY = """<net name="n" version="11"><layers><layer id="3" name="choose" type="If" version="opset8"><then_body><layers>
<layer id="{id}" name="inner" type="Const" version="opset1"><data element_type="f32" shape="1" offset="0" size="4"/>
<output><port id="0"><dim>{dim}</dim></port></output></layer></layers></then_body></layer></layers></net>"""


@pytest.mark.parametrize(
    ("layer_id", "dim", "line", "expected"),
    [("7", "2x", 3, 7), ("7", "1", 2, 7), ("seven", "2x", 3, None)],
    ids=["the reader's problem", "a payload's problem", "a layer without a number"],
)
def test_errors_hold_their_place_as_data(layer_id, dim, line, expected):
    text = IN_A_BODY.format(id=layer_id, dim=dim).encode()
    with pytest.raises(IRError) as caught:
        read_ir(text)
    assert caught.value.location == Location("", line, expected, "inner", "Const", subgraph_path=("If 'choose'", "then_body"))
    place = validate(text, select=["OVG007", "OVG501"])[-1].location
    assert (place.line, place.layer_id, place.subgraph_path) == (line, expected, ("If 'choose'", "then_body"))


def test_errors_of_a_body_name_the_way_to_it():
    text = '<net version="11"><layers><layer id="3" name="choose" type="If"><then_body/></layer></layers></net>'
    with pytest.raises(IRError, match=r"^<memory>:1: If 'choose' / then_body: <then_body> has no <layers> sections"):
        read_ir(text.encode())


def test_an_error_does_not_steer_the_terminal():
    name = "\u202e&#127;&#10;" + "x" * 1000
    text = f'<net version="11"><layers><layer id="x\x85" name="{name}" type="A"/></layers></net>'
    with pytest.raises(IRError) as caught:
        read_ir(text.encode())
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 800
    assert "\\u202e\\x7f\\nxxx" in str(caught.value)


def test_missing_file():
    with pytest.raises(FileNotFoundError):
        read_ir("nowhere.xml")

"""What the reader makes of a document, and on which line it found it."""

from __future__ import annotations

import io

import pytest

from ov_gather import IRError, read_ir
from ov_gather.ir.model import Edge, Element
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
    assert '<port id="2"' in text[gather.outputs[0].line - 1]
    assert 'to-layer="3"' in text[model.edges[2].line - 1]


def test_lines_are_right_in_a_long_document(samples):
    text = (samples / "valid" / "spec_layer.xml").read_text()
    model = read_ir(text.replace("<layers>", "<layers>" + "\n" * 200_000).encode())
    assert model.layers[2].line == 200_024
    assert model.edges[2].line == 200_059


def test_fragment(samples):
    model = read_ir(samples / "valid" / "spec_layer_fragment.xml")
    (layer,) = model.layers
    assert model.is_fragment
    assert (layer.id, layer.name, layer.version) == (0, "", None)
    assert layer.inputs[1].precision is None
    assert layer.inputs[1].shape == PartialShape.of([3, 10, 5])


def test_sub_graph_bodies(samples):
    model = read_ir(samples / "valid" / "if_bodies.xml")
    trails = [trail for trail, _ in model.walk()]
    assert trails == [(), ("If 'choose_axis'", "then_body"), ("If 'choose_axis'", "else_body")]
    (branch,) = [layer for layer in model.layers if layer.type == "If"]
    assert [section.tag for section in branch.sections] == ["else_port_map", "then_port_map"]
    assert branch.bodies[0].layers[2].attributes == {"axis": "0"}


def test_sources(samples):
    path = samples / "valid" / "spec_layer.xml"
    model = read_ir(path)
    assert read_ir(str(path)) == read_ir(path.read_bytes()) == read_ir(io.BytesIO(path.read_bytes())) == model
    with path.open("rb") as file:
        assert read_ir(file) == model


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


def test_what_is_not_interpreted_is_kept():
    text = """<net name="n" version="11"><layers/><edges/>
    <rt_info><info name="a" value="1"/><nested><layer>text</layer></nested></rt_info></net>"""
    (rt_info,) = read_ir(text.encode()).sections
    nested = Element("nested", {}, (Element("layer", {}, (), "text"),))
    assert rt_info == Element("rt_info", {}, (Element("info", {"name": "a", "value": "1"}), nested))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding):
    declared = {"latin-1": ' encoding="latin-1"', "utf-16": ' encoding="utf-16"'}.get(encoding, "")
    text = f'<?xml version="1.0"{declared}?><net name="é" version="10"><layers/></net>'
    assert read_ir(text.encode(encoding)).name == "é"


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


def test_missing_file():
    with pytest.raises(FileNotFoundError):
        read_ir("nowhere.xml")

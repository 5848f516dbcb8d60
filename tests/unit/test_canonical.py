"""The short way through a document gives what the general way gives, lines and errors included."""

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.paths import SAMPLES
from ov_gather import read_ir
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Edge, Layer, Model, Port
from ov_gather.ir.weights import Weights
from ov_gather.ir.writer import to_bytes
from ov_gather.ir.xml import parser

DOCUMENTS = sorted(SAMPLES.rglob("*.xml"))
VALID = [path.read_bytes() for path in DOCUMENTS if path.parent.name == "valid"]
NEVER = re.compile("(?!)")
PIECES = [
    b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<layers>", b"</layer>", b"<edges>", b"<then_body>", b"<rt_info>", b"</rt_info>",
    b"\r", b"\n", b"&amp;", b'"', b' axis="1"', "é".encode(), b"<dim>9999999999999</dim>", b"<dim>007</dim>",
]  # fmt: skip


class Stream(io.BytesIO):
    """A stream that gives `chunk` bytes at a time, however many are asked for."""

    def __init__(self, content: bytes, chunk: int) -> None:
        super().__init__(content)
        self.chunk = chunk

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.chunk)


def outcome(content: bytes, chunk: int = parser.CHUNK) -> tuple[Model | None, list[int], list[str]]:
    """The model, all its lines, which do not count when models are compared, and all errors."""
    reading = parser.Parser("m.xml", Weights(None))
    errors = reading.problems
    try:
        reading.run(Stream(content, chunk))
    except IRError as error:
        errors = [*errors, error]
    return reading.result, lines(reading.result), list(map(str, errors))


def lines(model: Model | None) -> list[int]:
    graphs = [graph for _, graph in model.walk()] if model else []
    found = [edge.line for graph in graphs for edge in graph.edges]
    for layer in (layer for graph in graphs for layer in graph.layers):
        found += [layer.line, layer.data_line, *(port.below for port in (*layer.inputs, *layer.outputs))]
        for section in layer.sections:
            found += [section.line, *(child.line for child in section.children)]
    return found


def general(content: bytes, chunk: int = parser.CHUNK) -> tuple[Model | None, list[int], list[str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "_GAP", NEVER)
        return outcome(content, chunk)


def test_samples():
    differ = []
    for path in DOCUMENTS:
        for content in (path.read_bytes(), path.read_bytes().replace(b"\n", b"\r\n")):
            for chunk in (1, 100, parser.CHUNK):
                if outcome(content, chunk) != general(content, chunk):
                    differ.append(f"{path}, {content.count(13)} carriage returns, chunks of {chunk}")
    assert not differ, "\n".join(differ)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_mutated_samples(data):
    content = bytearray(data.draw(st.sampled_from(VALID)))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = start + data.draw(st.sampled_from([0, 1, 30]))
        other = data.draw(st.integers(0, len(content)))
        content[start:end] = data.draw(st.sampled_from(PIECES) | st.just(bytes(content[other : other + 100])))
    content, chunk = bytes(content), data.draw(st.sampled_from([50, 1000, parser.CHUNK]))
    assert outcome(content, chunk) == general(content, chunk)  # the chunks may decide which of two errors comes first


def tags_of_the_general_way(content: bytes, chunk: int = parser.CHUNK) -> list[str]:
    tags: list[str] = []
    start = parser.Parser._start
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            parser.Parser, "_start", lambda self, tag, attributes: (tags.append(tag), start(self, tag, attributes))[1]
        )
        assert outcome(content, chunk)[0] is not None
    return tags


@pytest.mark.parametrize("name", ["compressed_weights.xml", "deberta_bias.xml", "dynamic_shapes.xml", "version_10.xml"])
def test_what_openvino_writes_goes_the_short_way(name, samples):
    content = (samples / "valid" / name).read_bytes()
    assert tags_of_the_general_way(content) == tags_of_the_general_way(content.replace(b"\n", b"\r\n"))
    assert set(tags_of_the_general_way(content)) <= {"net", "layers", "edges", "rt_info", "info", "Runtime_version"}


def test_bodies_go_the_short_way(samples):
    tags = tags_of_the_general_way((samples / "valid" / "if_bodies.xml").read_bytes())
    assert tags.count("layer") == 1  # only the If itself goes the general way
    assert "edge" not in tags


def long_document() -> bytes:
    """Ten thousand layers, one of a hundred of which goes the general way."""
    names = [f"a&{i}" if i % 100 == 0 else str(i) for i in range(10_000)]
    ports = ((Port(0, (4,), "FP32"),), [(Port(1, (4,), "FP32", {"names": name}),) for name in names])
    layers = [Layer(i, f"n{i}", "ReLU", "opset1", {}, ports[0], made) for i, made in enumerate(ports[1])]
    return to_bytes(Model(tuple(layers), tuple(Edge(i, 1, i + 1, 0) for i in range(9_999))))[0]


def test_lines_past_65535():
    model = read_ir(long_document())
    assert [layer.line for layer in model.layers] == [4 + 12 * i for i in range(10_000)]
    assert [layer.line + layer.outputs[0].below for layer in model.layers] == [11 + 12 * i for i in range(10_000)]
    assert [edge.line for edge in model.edges] == list(range(120_006, 130_005))


def test_short_and_general_way_alternate():
    tags = tags_of_the_general_way(long_document())
    assert tags.count("layer") == 100
    assert tags.count("edge") == 0


def test_only_a_part_of_the_text_is_held(monkeypatch):
    held: list[int] = []
    parse = parser.Parser._parse

    def watched(self, data, added):
        rest = parse(self, data, added)
        held.append(len(data))
        assert len(rest) <= added
        return rest

    monkeypatch.setattr(parser.Parser, "_parse", watched)
    document = long_document()
    assert outcome(document)[2] == []
    assert max(held) < 2 * parser.CHUNK
    assert sum(held) < 2 * len(document)


@pytest.mark.parametrize(("name", "least"), [("MAX_VERBATIM", 4), ("MAX_DEPTH", 6)])
def test_limits_hold_the_short_way(name, least, monkeypatch, samples):
    content = (samples / "valid" / "compressed_weights.xml").read_bytes()
    for limit in range(1, 12):
        monkeypatch.setattr(parser, name, limit)
        assert outcome(content) == general(content)
        assert (outcome(content)[0] is None) == (limit < least)


def test_what_is_remembered_is_short():
    from ov_gather.ir.xml import canonical

    remembered = canonical._remember(lambda text: [text])
    assert remembered("a") is remembered("a")
    assert remembered("a" * 1000) is not remembered("a" * 1000)

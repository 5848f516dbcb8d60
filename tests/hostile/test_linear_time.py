"""Documents on which a rule's work might grow with the square of their size: each of a few MB, each done in seconds."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ov_gather import validate
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.remote import redacted
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

MANY = 20_000
RELU = (
    '<layer id="{0}" name="r{0}" type="ReLU" version="opset1">'
    '<input><port id="0"/></input><output><port id="1"/></output></layer>'
)
PORTS = "".join(f'<port id="{i}"/>' for i in range(MANY))
ATTRIBUTE = " a{0}=''"
NAME = "x" * 900_000


def edge(source, target):
    return f'<edge from-layer="{source}" from-port="1" to-layer="{target}" to-port="0"/>'


def each(text, count=MANY):
    return "".join(text.format(i) for i in range(count))


def reader(attribute, dims):
    return (
        f'<layer id="1{{0}}" name="l{{0}}" type="SoftMax" version="opset8"><data axis="{attribute}"/>'
        f'<input><port id="0"/></input><output><port id="1" precision="FP32">{dims}</port></output></layer>'
    )


JOINED = (
    '<layer id="1{0}" name="c{0}" type="Concat" version="opset1"><data axis="0"/>'
    '<input><port id="0"><dim>2</dim></port></input>'
    '<output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>'
    '<layer id="2{0}" name="a{0}" type="Abs" version="opset1"><input><port id="0"><dim>2</dim></port></input>'
    '<output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>'
)


DOCUMENTS = {
    "types": (each('<layer id="{0}" name="l{0}" type="Gather{0}" version="opset1"/>'), ""),
    "attributes": (f'<layer id="0" name="l" type="TopK" version="opset1"><data {each(ATTRIBUTE)}/></layer>', ""),
    "a chain against the order": (each(RELU), "".join(edge(i + 1, i) for i in range(MANY - 1))),
    "a circle": (each(RELU), "".join(edge((i + 1) % MANY, i) for i in range(MANY))),
    "port map": (
        '<layer id="0" name="l" type="TensorIterator" version="opset1"><port_map>'
        + each('<input external_port_id="{0}" internal_layer_id="{0}"/>')
        + f"</port_map><input>{PORTS}</input><body><layers>"
        + each('<layer id="{0}" name="p{0}" type="Parameter" version="opset1"/>')
        + "</layers></body></layer>",
        "",
    ),
    "port maps and bodies": (
        '<layer id="0" name="l" type="TensorIterator" version="opset1">'
        + '<port_map><input external_port_id="0" internal_layer_id="0"/></port_map>' * MANY
        + "<body><layers/></body>" * MANY
        + "</layer>",
        "",
    ),
    "ports, edges and dimensions": (
        f'<layer id="3" name="w" type="Concat" version="opset1"><input>{PORTS}</input><output>{PORTS}</output></layer>'
        f'<layer id="4" name="p" type="Parameter" version="opset1"><data shape="{"1," * 9999}1" element_type="f32"/></layer>',
        each('<edge from-layer="3" from-port="{0}" to-layer="9" to-port="0"/>'),
    ),
    "many readers of one vector": (
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>'
        '<output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>' + each(JOINED, MANY // 2),
        "".join(edge(0, f"1{i}") + edge(f"1{i}", f"2{i}") for i in range(MANY // 2)),
    ),
    "many readers of one value of many dimensions": (
        '<layer id="0" name="x" type="Foo" version="opset1"><output>'
        f'<port id="1">{"<dim>1</dim>" * MANY}</port></output></layer>' + each(reader("{0}", ""), MANY // 4),
        "".join(edge(0, f"1{i}") for i in range(MANY)),
    ),
    "many readers of a wrong shape": (
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>'
        '<output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>'
        + each(reader("1", "<dim>2</dim><dim>4</dim>"), MANY // 4),
        edge(0, "10") + "".join(edge(f"1{i}", f"1{i + 1}") for i in range(MANY // 4 - 1)),
    ),
    "parts without end": (
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="0,2" element_type="f32"/>'
        '<output><port id="1" precision="FP32"><dim>0</dim><dim>2</dim></port></output></layer>'
        '<layer id="1" name="s" type="Split" version="opset1"><data num_splits="2147483648"/>'
        '<input><port id="0"/><port id="1"/></input><output><port id="2"/></output></layer>',
        edge(0, 1),
    ),
    "blocks of a size without end": (
        f'<layer id="0" name="x" type="Parameter" version="opset1"><data shape="{"1," * MANY}1" element_type="f32"/>'
        '<output><port id="1" precision="FP32"/></output></layer>'
        f'<layer id="1" name="d" type="DepthToSpace" version="opset1"><data block_size="{2**63 - 1}" mode="blocks_first"/>'
        '<input><port id="0"/></input><output><port id="1"/></output></layer>',
        edge(0, 1),
    ),
    "neighbours of a long name": (
        f'<layer id="0" name="{NAME}" type="ReLU" version="opset1"><output><port id="1" precision="I64"/></output></layer>'
        + each(RELU.replace('"r{0}"', '"r"').replace('id="0"', 'id="0" precision="FP32"').replace('"{0}"', '"1{0}"')),
        "".join(edge(0, f"1{i}") for i in range(MANY)),
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_linear_time(name):
    layers, edges = DOCUMENTS[name]
    start = time.process_time()
    findings = validate(f'<net name="n" version="11"><layers>{layers}</layers><edges>{edges}</edges></net>'.encode())
    assert time.process_time() - start < 10
    assert findings
    assert sum(len(finding.message) + len(finding.hint) for finding in findings) < 100_000_000


def test_known_faults_of_many_readers_of_one_value(tmp_path):
    """Whether a value is an output, or read once, is asked for each of its readers, and must be counted once."""
    builder = ModelBuilder("hub")
    ids, open_shape = builder.parameter("ids", I64, PartialShape.parse("?")), PartialShape.parse("?,4")
    (hub,) = builder.layer("ReLU", "hub", "opset1", {}, [builder.parameter("x", F32, open_shape)], [(F32, open_shape)])
    axis, numpy = builder.const("axis", I64, np.array(0)), {"auto_broadcast": "numpy"}
    for i in range(MANY // 2):
        taken = builder.layer("Gather", f"g{i}", "opset8", {}, [hub, ids, axis], [(F32, open_shape)])
        builder.result(f"y{i}", *builder.layer("Add", f"a{i}", "opset1", numpy, [hub, *taken], [(F32, open_shape)]))
    write_ir(builder.build(), tmp_path / "m.xml")
    start = time.process_time()
    assert not validate(tmp_path / "m.xml")
    assert time.process_time() - start < 20


@pytest.mark.parametrize("text", [NAME, "http:" * 100_000, NAME + "?"])
def test_long_words_that_might_be_urls(text):
    start = time.process_time()
    assert redacted(text) == text
    assert time.process_time() - start < 5

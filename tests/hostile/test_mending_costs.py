"""`fix` of documents with many findings: its steps grow as their number does."""

import struct
from pathlib import Path

import pytest

from helpers.steps import steps_of
from ov_gather.rules.mending import mend

DATA = (
    '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="3" element_type="f32"/>'
    '<output><port id="0" precision="FP32"><dim>3</dim></port></output></layer>'
)
INDICES = (
    '<layer id="{id}1" name="i{id}" type="Const" version="opset1"><data element_type="i64" shape="2" offset="{at}" size="16"/>'
    '<output><port id="0" precision="I64"><dim>2</dim></port></output></layer>'
)
GATHER = (
    '<layer id="{id}2" name="{name}" type="GatherElements" version="opset6"><data axis="0"{attribute}/>'
    '<input><port id="{first}" precision="FP32"><dim>3</dim></port><port id="{second}" precision="I64"><dim>2</dim></port>'
    '</input><output><port id="2" precision="{type}"><dim>{size}</dim></port></output></layer>'
)
EDGES = (
    '<edge from-layer="0" from-port="0" to-layer="{id}2" to-port="{first}"/>'
    '<edge from-layer="{id}1" from-port="0" to-layer="{id}2" to-port="{second}"/>'
)
KINDS = {
    "precisions": {"type": "FP16"},
    "dims": {"size": "5"},
    "attributes": {"attribute": ' batch_dims="0"'},
    "names": {"name": "g"},
    "order of ports": {"first": "1", "second": "0"},
    "indices": {"index": -1},
}


def written(path: Path, count: int, **changes: object) -> Path:
    """Write an IR of gathers, each with these changes, and return its path."""
    layers, edges, payload = [DATA], [], b""
    for i in range(1, count + 1):
        values = {"id": i, "name": f"g{i}", "attribute": "", "first": 0, "second": 1, "type": "FP32", "size": 2} | changes
        layers.append((INDICES + GATHER).format(at=len(payload), **values))
        edges.append(EDGES.format(**values))
        payload += struct.pack("<qq", 1, changes.get("index", 1))
    path.write_text(f'<net name="n" version="11"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges></net>')
    path.with_suffix(".bin").write_bytes(payload)
    return path


def with_twins(path: Path, count: int, twins: int) -> Path:
    """Write an IR of gathers with negative indices; those of the first ones serve elsewhere, too, so that they must stay."""
    text = written(path, count, index=-1).read_text()
    consts = "".join(INDICES.format(id=f"{i + 1}000000", at=16 * i) for i in range(twins))
    path.write_text(text.replace("</layers>", f"{consts}</layers>"))
    return path


def wide(path: Path, count: int) -> Path:
    """Write an IR of one Concat, whose inputs have all the wrong type, and return its path."""
    ports = "".join(f'<port id="{i}" precision="FP16"><dim>3</dim></port>' for i in range(count))
    edges = "".join(f'<edge from-layer="0" from-port="0" to-layer="1" to-port="{i}"/>' for i in range(count))
    path.write_text(
        f'<net name="n" version="11"><layers>{DATA}<layer id="1" name="c" type="Concat" version="opset1"><data axis="0"/>'
        f'<input>{ports}</input><output><port id="{count}" precision="FP32"><dim>{3 * count}</dim></port></output></layer>'
        f"</layers><edges>{edges}</edges></net>"
    )
    return path


def mended(path: Path) -> int:
    return len(mend(path, unsafe=True).mended)


def assert_linear(few: Path, many: Path, least: int) -> None:
    """Assert that the second, of four times the findings of the first, costs about four times the steps."""
    assert mended(few) >= least
    assert steps_of(lambda: mended(many)) < 4.3 * steps_of(lambda: mended(few))


@pytest.mark.parametrize("kind", KINDS)
def test_fixes_of_many_layers(tmp_path, kind):
    few, many = (written(tmp_path / f"{count}.xml", count, **KINDS[kind]) for count in (20, 80))
    assert_linear(few, many, 19)


def test_one_of_many_cannot_be_fixed(tmp_path):
    """It is searched by halves: a validation of the document for each."""
    few, many = (with_twins(tmp_path / f"{count}.xml", count, 1) for count in (16, 64))
    assert (mended(few), mended(many)) == (15, 63)
    assert steps_of(lambda: mended(many)) < 7 * steps_of(lambda: mended(few))


def test_many_of_many_cannot_be_fixed(tmp_path, monkeypatch):
    monkeypatch.setattr("ov_gather.rules.mending._LEAST_TRIES", 10)
    monkeypatch.setattr("ov_gather.rules.mending._MOST_TRIED", 1)
    few, many = (with_twins(tmp_path / f"{count}.xml", count, count) for count in (20, 80))
    assert (mended(few), mended(many)) == (0, 0)
    assert steps_of(lambda: mended(many)) < 5 * steps_of(lambda: mended(few))


def test_fixes_of_many_ports(tmp_path):
    assert_linear(wide(tmp_path / "few.xml", 40), wide(tmp_path / "many.xml", 160), 40)

"""`ov-gather diff`, as a user runs it."""

import json

import pytest

from helpers.disguise import disguised
from ov_gather import read_ir
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir


@pytest.fixture
def path(samples):
    return samples / "valid" / "loop.xml"


@pytest.fixture
def other(copied):
    """The same model with another axis in the body of the loop, written anew."""
    return copied("valid/loop", stem="other", changes=[('<data axis="1" />', '<data axis="0" />')])


def test_no_difference(cli, path, tmp_path):
    write_ir(disguised(read_ir(path)), tmp_path / "copy.xml")
    done = cli("diff", path, tmp_path / "copy.xml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "no difference: 13 layers are the same\n", "")


def test_a_difference(cli, path, other):
    done = cli("diff", path, other, code=1)
    *_, row, summary = done.stdout.splitlines()
    assert row.split("  ")[0] == "Loop 'loop' / body / GatherElements 'gather' (layer 3)"
    assert row.split()[-4:] == ["attribute", "axis", "1", "0"]
    assert summary == "1 attribute; 11 layers are the same"


def test_json(cli, path, other):
    done = cli("diff", path, other, "--format", "json", code=1)
    document = json.loads(done.stdout)
    (change,) = document["changes"]
    assert (document["a"], document["b"], document["consequences"]) == (str(path), str(other), [])
    assert (change["kind"], change["what"], change["before"], change["after"]) == ("attribute", "axis", "1", "0")
    assert change["a"]["name"] == change["b"]["name"] == "gather"
    assert change["a"]["trail"] == ["Loop 'loop'", "body"]
    assert other.read_text().splitlines()[change["b"]["line"] - 1].strip().startswith("<layer")


def test_what_follows_is_counted_or_listed(cli, path, other):
    text = path.read_text()
    other.write_text(text.replace("<dim>2</dim>", "<dim>4</dim>").replace('shape="2,3"', 'shape="4,3"'))
    done = cli("diff", path, other, code=1)
    *rows, summary = done.stdout.splitlines()
    assert [row.split("  ")[0] for row in rows[2:]] == ["Parameter 'data' (layer 0)", "Parameter 'indices' (layer 1)"]
    assert rows[2].split()[-2:] == ["[2,3]", "[4,3]"]
    assert summary.startswith("2 shapes; 5 types and shapes follow from these; ")
    listed = cli("diff", path, other, "--verbose").stdout.splitlines()
    assert len(listed) == len(rows) + 5 + 1
    assert any("Loop 'loop' / body / Add 'sum'" in row for row in listed)


@pytest.mark.parametrize(("count", "lines"), [(3, 3), (4, 1), (50, 1)])
def test_changes_that_are_alike_are_one_row(cli, tmp_path, count, lines):
    """Each Concat gets another axis; --verbose lists all."""
    paths, square = [tmp_path / "a.xml", tmp_path / "b.xml"], PartialShape.of([2, 2])
    for path, axis in zip(paths, (0, 1), strict=True):
        builder = ModelBuilder("m")
        x = builder.parameter("x", F32, square)
        for i in range(count):
            (y,) = builder.layer("Concat", f"concat{i}", "opset1", {"axis": axis}, [x, x], [(F32, square)])
            builder.result(f"y{i}", y)
        write_ir(builder.build(), path)
    listed = cli("diff", *paths, code=1).stdout.splitlines()
    rows = [row for row in listed if row.startswith("Concat")]
    assert len(rows) == lines
    assert all(row.split()[-4:] == ["attribute", "axis", "0", "1"] for row in rows)
    assert (f" and {count - 1} others " in rows[0]) is (lines == 1)
    listed = cli("diff", *paths, "--verbose", code=1).stdout.splitlines()
    assert len([row for row in listed if row.startswith("Concat")]) == count


def test_what_cannot_be_read(cli, refusal, path, tmp_path):
    (tmp_path / "broken.xml").write_text("<net>")
    assert refusal("diff", path, tmp_path / "broken.xml").startswith(f"error: {tmp_path / 'broken.xml'}:1: ")
    (tmp_path / "lonely.xml").write_text(path.read_text())
    assert "there is no .bin" in refusal("diff", path, tmp_path / "lonely.xml")
    cli("diff", path, code=2)
    cli("diff", path, tmp_path / "nowhere.xml", code=2)

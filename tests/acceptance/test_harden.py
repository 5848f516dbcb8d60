"""`ov-gather harden`, as a user runs it."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset8, opset13

import ov_gather
from helpers.hardening import RAISED, infer_model
from ov_gather.acceleration.graph import operation, walk

pytestmark = pytest.mark.openvino


@pytest.fixture
def lookup(tmp_path):
    """A table of ten rows, which `input_ids` look up."""
    ids = opset13.parameter([-1], np.int64, name="input_ids")
    table = opset13.constant(np.arange(1, 11, dtype=np.float32))
    gather = opset8.gather(table, ids, opset13.constant(0))
    gather.set_friendly_name("embedding")
    ov.serialize(ov.Model([gather], [ids], "model"), tmp_path / "m.xml")
    return tmp_path / "m.xml"


def outcome(path, *indices):
    model = ov_gather.register(ov.Core()).read_model(path)
    result = infer_model(model, [np.array(indices)])
    return result if result == RAISED else np.frombuffer(result[0], np.float32).tolist()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("options", "out"),
    [
        (["--policy", "raise"], RAISED),
        (["--policy", "raise", "--portable"], RAISED),
        (["--policy", "clamp"], [1, 10, 10, 1]),
        (["--policy", "zero"], [1, 10, 0, 0]),
    ],
)
def test_harden(cli, lookup, tmp_path, options, out):
    done = cli("harden", lookup, "-o", tmp_path / "n.xml", *options, code=0)
    assert "embedding" in done.stdout
    assert "in bounds if input_ids in -10..9" in done.stdout
    assert done.stdout.endswith("n.xml: 1 of 1 gathers and scatters changed; guards: 1\n")
    assert outcome(tmp_path / "n.xml", 0, -1, 9, -10) == [1, 10, 10, 1]
    assert outcome(tmp_path / "n.xml", 0, -1, 10, -11) == out
    model = ov_gather.register(ov.Core()).read_model(tmp_path / "n.xml")
    is_ours = any(operation(node).startswith("ov_gather") for _, node in walk(model))
    assert is_ours == (options == ["--policy", "raise"])


def test_assume(cli, lookup, tmp_path):
    done = cli("harden", lookup, "-o", tmp_path / "n.xml", "--policy", "clamp", "--assume", "input_ids=0..9", code=0)
    assert done.stdout.endswith("n.xml: 0 of 1 gathers and scatters changed; guards: 0\n")
    assert (tmp_path / "n.xml").read_bytes() == lookup.read_bytes()


def test_many_that_are_proved_are_counted(cli, lookup, tmp_path):
    """What is changed keeps its row; --verbose lists the others."""
    model = ov.Core().read_model(lookup)
    table, (ids,) = opset13.constant(np.arange(4, dtype=np.float32)), model.get_parameters()
    model.add_results([opset13.result(opset8.gather(table, ids, opset13.constant(0))) for _ in range(3)])
    proved = [opset8.gather(table, opset13.constant(np.array([row % 4])), opset13.constant(0)) for row in range(12)]
    model.add_results([opset13.result(one) for one in proved])
    ov.serialize(model, tmp_path / "many.xml")
    short = cli("harden", tmp_path / "many.xml", "-o", tmp_path / "n.xml", "--policy", "clamp", code=0).stdout
    whole = cli("harden", tmp_path / "many.xml", "-o", tmp_path / "o.xml", "--policy", "clamp", "--verbose", code=0).stdout
    assert "12 unchanged, proved: every index is in bounds\n--verbose lists them\n" in short
    assert (short.count("Gather-8"), whole.count("Gather-8")) == (2, 16)
    assert "embedding" in short and " and 2 others " in short


def test_once_more_over_the_last_result(cli, lookup, tmp_path):
    for policy in ("clamp", "zero"):
        cli("harden", lookup, "-o", tmp_path / "n.xml", "--policy", policy, "--force", code=0)
    assert outcome(tmp_path / "n.xml", 11) == [0]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["{model}", "-o", "n.bin", "--policy", "clamp"], "the name of an IR ends in .xml"),
        (["{model}", "-o", "{tmp}/n.xml"], "Missing option '--policy'"),
        (["{model}", "-o", "{tmp}/n.xml", "--policy", "wrap"], "'wrap' is not one of 'raise', 'clamp', 'zero'"),
        (["{model}", "-o", "{tmp}/n.xml", "--policy", "raise", "--assume", "words=0..5"], "no such input or open dimension"),
        (["{model}", "-o", "{tmp}/n.xml", "--policy", "raise", "--assume", "input_ids=5..0"], "no value is in 5..0"),
        (["{model}", "-o", "{tmp}/n.xml", "--policy", "raise", "--assume", "input_ids=5"], "give NAME=LO..HI"),
        (["{samples}/invalid/OVG001/truncated.xml", "-o", "{tmp}/n.xml", "--policy", "raise"], "truncated.xml:"),
        (["{model}.none", "-o", "{tmp}/n.xml", "--policy", "raise"], "does not exist"),
    ],
)
def test_what_cannot_be_done(refusal, lookup, samples, tmp_path, arguments, reason):
    before = set(tmp_path.iterdir())
    assert reason in refusal("harden", *(word.format(model=lookup, tmp=tmp_path, samples=samples) for word in arguments))
    assert set(tmp_path.iterdir()) == before

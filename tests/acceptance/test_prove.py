"""`ov-gather prove`, as a user runs it."""

import json
import re
import shlex
import sys

import numpy as np
import onnx
import openvino as ov
import openvino.opset13 as ops
import pytest
from click.testing import CliRunner

from helpers.legalized import constant, model
from ov_gather.cli.prove import command


def look_up(path, *indices, rows=10):
    """Write an IR that looks up rows of a table, each time by a function of the input `ids`, and return its path."""
    ids, zero = ops.parameter([2, 3], np.int64, name="ids"), ops.constant(0)
    if rows > 0:
        inputs, table = [ids], ops.constant(np.zeros((rows, 4), np.float32))
    else:
        table = ops.parameter([rows, 4], np.float32, name="table")
        inputs = [ids, table]
    names = ("rows", "next_rows")
    taken = [ops.gather(table, index(ids), zero, name=name) for name, index in zip(names, indices, strict=False)]
    ov.serialize(ov.Model(taken, inputs), path)
    return path


def itself(ids):
    return ids


def plus(number):
    return lambda index: ops.add(index, ops.constant(np.int64(number)))


@pytest.fixture
def conditional(tmp_path):
    return look_up(tmp_path / "conditional.xml", itself, plus(3))


@pytest.fixture
def proved(tmp_path):
    return look_up(tmp_path / "proved.xml", lambda ids: ops.clamp(ids, 0, 9))


@pytest.fixture
def refuted(tmp_path):
    return look_up(tmp_path / "refuted.xml", lambda ids: plus(10)(ops.clamp(ids, 0, 9)))


@pytest.fixture
def unknown(tmp_path):
    return look_up(tmp_path / "unknown.xml", lambda ids: ops.power(ids, ids))


@pytest.fixture
def open_sizes(tmp_path):
    """A table of any number of rows."""
    return look_up(tmp_path / "open.xml", itself, rows=-1)


def test_what_is_proved_is_counted(cli, proved):
    done = cli("prove", proved)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{proved}: 1 proved\n1 proved, 0 refuted, 0 conditional, 0 unknown in 1 file\n"


def test_what_is_proved_is_listed_if_asked_for(cli, proved):
    (row,) = [line for line in cli("prove", proved, "--verbose").stdout.splitlines() if line.startswith("Gather")]
    assert row.split() == ["Gather", "'rows',", "line", row.split()[3], "proved", "0..9", "0:", "10", *row.split()[8:]]


def test_conditions_are_put_together_for_each_input(cli, conditional):
    done = cli("prove", conditional, code=0)
    assert "in bounds if ids in -10..9" in done.stdout
    assert "in bounds if ids in -13..6" in done.stdout
    assert done.stdout.splitlines()[-5:-2] == [
        "what is conditional is in bounds if",
        "  ids in -10..6",
        "0 proved, 0 refuted, 2 conditional, 0 unknown in 1 file",
    ]


def test_it_ends_with_commands_that_help(cli, conditional, proved, tmp_path):
    """Each can be copied, and does what it says; nothing helps a model that needs no help."""
    path = conditional.rename(tmp_path / "a model.xml")
    conditional.with_suffix(".bin").rename(path.with_suffix(".bin"))
    lines = cli("prove", path, code=0).stdout.splitlines()
    steps = [shlex.split(line, comments=True) for line in lines if line.startswith("next: ")]
    assert [step[:3] for step in steps] == [["next:", "ov-gather", "prove"], ["next:", "ov-gather", "harden"]]
    for step in steps:
        cli(*step[2:], code=0, cwd=tmp_path)
    assert (tmp_path / "guard.py").is_file()
    assert (tmp_path / "a model.hardened.xml").is_file()
    assert "next:" not in cli("prove", proved, code=0).stdout


def test_a_refuted_index_is_shown_by_our_kernel(cli, refuted):
    done = cli("prove", refuted, code=1)
    assert "gather: index 10 is out of bounds for axis 0 of size 10 (valid -10..9)" in done.stdout
    assert "\n0 proved, 1 refuted, 0 conditional, 0 unknown in 1 file\n" in done.stdout


CONSTANTS = {
    "gather": (
        lambda: ops.gather(np.zeros(3, np.float32), np.array([[0, 1, 2], [0, 1, 99]]), 0),
        "indices[1, 2] = 99 is out of bounds for axis 0 of size 3",
    ),
    "scalar": (
        lambda: ops.gather(np.zeros(3, np.float32), np.array(-4), 0),
        "indices = -4 is out of bounds for axis 0 of size 3",
    ),
    "tuples": (
        lambda: ops.gather_nd(np.zeros((2, 5, 3), np.float32), np.array([[[0, 1]], [[1, 7]]]), 0),
        "indices[1, 0, 1] = 7 is out of bounds for axis 1 of size 5",
    ),
    "batches": (
        lambda: ops.gather_nd(np.zeros((2, 5, 3), np.float32), np.array([[[4]], [[5]]]), 1),
        "indices[1, 0, 0] = 5 is out of bounds for axis 1 of size 5",
    ),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_index_is_named_as_the_model_has_it(cli, tmp_path, name):
    make, said = CONSTANTS[name]
    ov.serialize(ov.Model([make()], []), tmp_path / "m.xml")
    assert said in cli("prove", tmp_path / "m.xml", "--report", tmp_path / "page.html", code=1).stdout
    assert said in (tmp_path / "page.html").read_text()


def test_the_first_unknown_value_is_named(cli, unknown):
    done = cli("prove", unknown, code=0)
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("Gather")]
    assert "unknown" in row
    assert "values of Power '" in row


def test_sites_with_the_same_condition_are_one_row(cli, tmp_path):
    """Two of three look up the same rows; --verbose lists each."""
    path = look_up(tmp_path / "m.xml", itself, lambda ids: ops.add(ids, ops.constant(np.int64(0))))
    listed = [line for line in cli("prove", path, code=0).stdout.splitlines() if line.startswith("Gather")]
    (row,) = listed
    assert " and 1 other " in row
    assert "in bounds if ids in -10..9" in row
    listed = [line for line in cli("prove", path, "-v", code=0).stdout.splitlines() if line.startswith("Gather")]
    assert sorted("next_rows" in line for line in listed) == [False, True]
    assert all("in bounds if ids in -10..9" in line for line in listed)


def test_sites_with_the_same_unknown_index_are_one_row(cli, tmp_path):
    """The axes have other sizes; each that is refuted has its own row."""
    x, y, zero = ops.parameter([-1, 4], np.float32, name="x"), ops.parameter([-1, 4], np.float32, name="y"), ops.constant(0)
    ids = ops.parameter([2], np.int64, name="ids")
    unknown, constant = ops.power(ids, ids), ops.constant(np.array([7]))
    table = ops.constant(np.zeros((5, 4), np.float32))
    gathers = [
        ops.gather(data, index, zero) for data, index in ((x, unknown), (y, unknown), (table, constant), (table, constant))
    ]
    ov.serialize(ov.Model(gathers, [x, y, ids]), tmp_path / "m.xml")
    done = cli("prove", tmp_path / "m.xml", code=1)
    listed = [line for line in done.stdout.splitlines() if line.startswith("Gather")]
    assert ["unknown" in line for line in listed].count(True) == 1
    assert ["refuted" in line for line in listed].count(True) == 2
    assert any(re.search(r"0: dim\([xy], 0\) and 1 other", line) for line in listed)
    assert "0 proved, 2 refuted, 0 conditional, 2 unknown" in done.stdout


SIZES = {
    "c = -1, x empty": (-1, "initializer 'c' is -1, and axis 0 may be empty"),
    "c = 2, x short": (2, "initializer 'c' is 2, and axis 0 may be too small"),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_constant_index_of_an_open_axis_is_told_as_that(cli, tmp_path, name):
    """The axis is computed by NonZero: no condition on the input can be stated."""
    index, said = SIZES[name]
    proto = model("float[n] x) => (int64[] z)", "y = NonZero (x) t = Transpose (y) z = Gather (t, c)")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([index]), "c"))
    onnx.save(proto, tmp_path / "m.onnx")
    assert said in cli("prove", tmp_path / "m.onnx", code=0).stdout


@pytest.mark.parametrize("name", ["conditional", "unknown"])
def test_strict_wants_all_proved(cli, request, proved, name):
    cli("prove", proved, "--strict", code=0)
    cli("prove", proved, request.getfixturevalue(name), "--strict", code=1)


def test_what_is_assumed_holds(cli, conditional):
    done = cli("prove", conditional, "--assume", "ids=-10..6", "--strict", code=0)
    assert "2 proved" in done.stdout
    assert "in bounds if ids >= -10" in cli("prove", conditional, "--assume", "ids=..6").stdout


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        ("idss=0..6", "--assume idss: there is no such input or open dimension; "),
        ("ids=6..0", "assume ids: no value is in 6..0"),
        ("ids=0", "give NAME=LO..HI"),
        ("dim(ids, 0)=1..2", "there is no such input or open dimension"),
    ],
)
def test_a_wrong_assumption_is_refused(refusal, conditional, assume, message):
    assert message in refusal("prove", conditional, "--assume", assume)


@pytest.mark.parametrize("limits", ["1.5..", "..2.5", "1.5..1.5"])
def test_a_size_that_is_no_whole_number_is_refused(refusal, open_sizes, limits):
    told = refusal("prove", open_sizes, "--assume", f"dim(table, 0)={limits}")
    assert "assume dim(table, 0): a dimension is a whole number, which " in told


def test_an_assumption_may_concern_some_of_the_files(cli, tmp_path, proved, open_sizes):
    done = cli("prove", tmp_path, "--assume", "dim(table, 0)=10..10", "--assume", "ids=0..9", "--strict")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "2 proved, 0 refuted, 0 conditional, 0 unknown in 2 files")


def test_conditions_on_open_sizes(cli, open_sizes):
    assert "  ids in -dim(table, 0)..dim(table, 0) - 1" in cli("prove", open_sizes).stdout.splitlines()


def test_json(cli, conditional, refuted):
    done = cli("prove", conditional, refuted, "--format", "json", code=1)
    document = json.loads(done.stdout)
    assert document["version"] == cli("--version").stdout.split()[1]
    assert document["counts"] == {"proved": 0, "refuted": 1, "conditional": 2, "unknown": 0}
    first, second = document["files"]
    assert (first["path"], second["path"]) == (str(conditional), str(refuted))
    assert first["requires"] == {"ids": {"at_least": [-10], "at_most": [6]}}
    assert {proof["layer"]: proof["requires"]["ids"] for proof in first["proofs"]} == {
        "rows": {"at_least": [-10], "at_most": [9]},
        "next_rows": {"at_least": [-13], "at_most": [6]},
    }
    assert first["example"] == {"ids": 0} and all(proof["example"] == {"ids": 0} for proof in first["proofs"])
    (proof,) = second["proofs"]
    line = 1 + refuted.read_text().splitlines().index(next(line for line in refuted.open() if 'type="Gather"' in line)[:-1])
    assert proof == {
        "layer": "rows",
        "type": "Gather",
        "line": line,
        "status": "refuted",
        "axis": 0,
        "axis_size": 10,
        "lowest_index": 10,
        "highest_index": 19,
        "reason": "an index is out of bounds in every run that gets here",
        "requires": {},
        "example": None,
        "alternatives": [],
        "witness": {
            "index": 10,
            "size": 10,
            "error": "gather: index 10 is out of bounds for axis 0 of size 10 (valid -10..9)",
        },
    }


def test_errors_of_the_document_come_first(cli, samples, proved):
    done = cli("prove", proved, samples / "invalid" / "OVG111", code=1)
    assert "error OVG111" in done.stdout
    assert "nothing is proved of a model with errors" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 proved, 0 refuted, 0 conditional, 0 unknown in ")


def test_an_unreadable_file_does_not_stop_the_others(cli, copied, tmp_path, proved):
    copied("invalid/OVG001/empty")
    done = cli("prove", tmp_path, code=2)
    assert "error OVG001: the file is empty" in done.stderr
    assert done.stdout == f"{proved}: 1 proved\n1 proved, 0 refuted, 0 conditional, 0 unknown in 1 file\n"


@pytest.fixture
def onnx_model(tmp_path):
    """An ONNX model that looks up rows of a table of ten: by its input, and by the input clipped."""
    proto = model(
        "int64[batch] ids) => (float[batch,4] a, float[batch,4] b)",
        """low = Constant<value_int = 0>() high = Constant<value_int = 9>() inside = Clip(ids, low, high)
           a = Gather <axis = 0> (t, ids) b = Gather <axis = 0> (t, inside)""",
    )
    onnx.save(constant(np.zeros((10, 4), np.float32), proto, "t"), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_an_onnx_model_beside_an_ir(cli, onnx_model, refuted):
    done = cli("prove", onnx_model, refuted)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{onnx_model}: 1 proved, 1 conditional"
    assert "  ids in -10..9" in lines
    assert lines[-3] == "1 proved, 1 refuted, 1 conditional, 0 unknown in 2 files"
    cli("prove", onnx_model, "--strict", code=1)
    cli("prove", onnx_model, "--strict", "--assume", "ids=0..9", "--assume", "dim(batch)=1..", code=0)


def test_an_onnx_model_for_programs(cli, onnx_model):
    (file,) = json.loads(cli("prove", onnx_model, "--format", "json").stdout)["files"]
    assert file["path"] == str(onnx_model)
    assert file["requires"] == {"ids": {"at_least": [-10], "at_most": [9]}}
    assert [proof["status"] for proof in file["proofs"]] == ["conditional", "proved"]
    (result,) = json.loads(cli("prove", onnx_model, "--format", "sarif").stdout)["runs"][0]["results"]
    assert result["ruleId"] == "conditional"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("m.onnx")


def test_an_unreadable_onnx_model_does_not_stop_the_others(cli, tmp_path, proved):
    (tmp_path / "broken.onnx").write_bytes(b"no protobuf")
    done = cli("prove", tmp_path / "broken.onnx", proved, code=2)
    assert "broken.onnx: error OVG099: not a valid ONNX model" in done.stderr
    assert done.stdout.endswith("1 proved, 0 refuted, 0 conditional, 0 unknown in 1 file\n")


def test_what_reads_onnx_is_not_installed(monkeypatch, onnx_model):
    monkeypatch.setitem(sys.modules, "ov_gather.converters.proofs", None)
    result = CliRunner().invoke(command, [str(onnx_model)])
    assert isinstance(result.exception, ImportError)  # which `ov-gather` tells in one line
    assert str(result.exception).startswith(f"{onnx_model}: to read ONNX models, pip install onnx onnx-ir")


def test_a_bare_layer_is_not_proved(cli):
    done = cli("prove", "ir_samples/valid/spec_layer_fragment.xml", "--strict", code=1)
    assert "1 unknown" in done.stdout


def test_bad_arguments(cli, refusal, tmp_path):
    cli("prove", code=2)
    cli("prove", tmp_path / "nowhere.xml", code=2)
    assert "there is nothing to do" in refusal("prove", tmp_path)


def test_a_page_shows_the_way_of_each_index(cli, conditional, tmp_path):
    page = tmp_path / "page.html"
    cli("prove", conditional, "--report", page, code=0)
    text = page.read_text()
    assert "<title>ov-gather prove: conditional</title>" in text
    assert "indices of Gather 'rows' comes from Parameter 'ids'" in text
    cli("prove", conditional, "--report", page, code=0)  # an earlier page may be replaced, another file may not
    page.write_text("mine")
    assert "exists; --force overwrites it" in cli("prove", conditional, "--report", page, code=2).stderr
    assert "which is read" in cli("prove", conditional, "--report", conditional, "--force", code=2).stderr

"""A .bin that is cut after it was looked at: an error or a finding, never the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from ov_gather import validate
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import BOOLEAN, F32, I64, STRING
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 123456\n"
OUTSIDE = "bytes 0..4194304 lie outside the .bin, which has 100"
CUT = """
import os, sys
from ov_gather import IRError, cross_check, read_ir, validate
from ov_gather.ir.constants import constant
from ov_gather.rules import validation

path = sys.argv[1]
def cut():
    os.truncate(path.replace(".xml", ".bin"), 100)
"""
READ = """
model = read_ir(path)
cut()
try:
    constant(model, model.of_type("Const")[0]).sum()
except IRError as error:
    print(error)
"""
VALIDATE = """
read_document = validation.read_document
def read_and_cut(*given):
    document = read_document(*given)
    cut()
    return document
validation.read_document = read_and_cut
for finding in validate(path):
    print(finding.rule, finding.message)
"""
CHECK = """
model = read_ir(path)
cut()
result = cross_check(model, runtimes=("openvino",))
print("passed" if result.passed else "failed", *(layer.problem for layer in result.layers))
"""


@pytest.fixture
def path(tmp_path):
    """A gather of a table that is many pages long, with indices, booleans and strings behind it in the .bin."""
    builder = ModelBuilder("model")
    table = builder.const("table", F32, np.ones((1024, 1024), np.float32))
    indices = builder.const("indices", I64, np.arange(0, 3))
    axis = builder.const("axis", I64, np.array(0))
    shape = PartialShape.of((3, 1024))
    (output,) = builder.layer("Gather", "gather", "opset8", {"batch_dims": "0"}, [table, indices, axis], [(F32, shape)])
    builder.result("output", output)
    builder.result("flags' copy", builder.const("flags", BOOLEAN, np.ones(5000, bool)))
    builder.result("words' copy", builder.const("words", STRING, np.array(["a", "b"], object)))
    write_ir(builder.build(), tmp_path / "m.xml")
    return tmp_path / "m.xml"


def run(path, script):
    done = subprocess.run([sys.executable, "-c", CUT + script, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr or f"it died of signal {-done.returncode}"
    return done.stdout.splitlines()


def test_read_ir_raises_when_the_value_is_asked_for(path):
    (message,) = run(path, READ)
    assert f"{path}:" in message
    assert "Const 'table'" in message
    assert OUTSIDE in message


def test_validate_names_the_first_constant_that_is_gone_and_their_number(path):
    (found,) = run(path, VALIDATE)
    assert found.startswith("OVG502 Const 'table' (layer ")
    assert f"{OUTSIDE} (5 Consts in all)" in found


def test_a_missing_bin_is_one_finding(path):
    before = validate(path)
    path.with_suffix(".bin").unlink()
    (found,) = validate(path)
    assert (before, found.rule, found.severity.value) == ([], "OVG501", "error")
    assert "there is no .bin to read it from (5 Consts in all)" in found.message
    assert str(path.with_suffix(".bin")) in found.hint


def test_a_bin_that_is_a_pointer_of_git_lfs(path):
    path.with_suffix(".bin").write_bytes(POINTER)
    (found,) = validate(path)
    assert found.rule == "OVG501"
    assert "a pointer of Git LFS, not the file itself; fetch the file with `git lfs pull`" in found.message


def test_an_xml_that_is_a_pointer_of_git_lfs(path):
    path.write_bytes(POINTER)
    (found,) = validate(path)
    assert (found.rule, found.hint) == ("OVG001", "fetch the file with `git lfs pull`")
    assert "a pointer of Git LFS" in found.message


def test_check_says_that_the_layer_was_not_executed(path):
    (line,) = run(path, CHECK)
    assert line.startswith("failed not executed: ")
    assert OUTSIDE in line


def test_what_was_cut_before_is_a_finding_of_the_command(path, cli):
    os.truncate(path.with_suffix(".bin"), 100)
    for command, code in (("validate", 1), ("check", 2)):
        done = cli(command, path)
        assert done.returncode == code, done.stderr
        assert "OVG502" in done.stdout + done.stderr

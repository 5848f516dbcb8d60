"""`ov-gather check`, as a user runs it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ov_gather import read_ir
from ov_gather.ops import OPERATIONS
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.spec import CUSTOM_OPSET

SAMPLES = Path(__file__).parents[2] / "ir_samples"


def test_valid_samples(cli, samples):
    done = cli("check", "ir_samples/valid")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if ".xml" in line and "│" in line]
    files = list((samples / "valid").glob("*.xml"))
    layers = sum(1 for file in files for _, graph in read_ir(file).walk() for _ in family_layers(graph))
    assert len(rows) == layers > 30
    assert all("openvino: passed" in row for row in rows)
    without_counterpart = done.stdout.count("extension: not applicable: no-counterpart")
    assert done.stdout.count("extension: passed") == layers - without_counterpart
    assert done.stdout.count("expected output: passed") == len(list((samples / "valid").glob("*.expected.json")))
    assert "seed 2026" in done.stdout
    assert "spec_layer_fragment.xml: assumed, as the fragment does not say: opset6, f32 data, i64 indices" in done.stdout
    assert f"files: {len(files)}, layers: {layers}, passed: {layers}, failed: 0" in done.stdout


def test_valid_samples_hold_every_operation_of_openvino(samples):
    found = {
        view.operation.name
        for file in (samples / "valid").glob("*.xml")
        for _, graph in read_ir(file).walk()
        for view in family_layers(graph)
    }
    assert found == {operation.name for operation in OPERATIONS if CUSTOM_OPSET not in operation.opsets}


@pytest.mark.parametrize("name", sorted(path.name for path in (SAMPLES / "divergent").iterdir()))
def test_divergent_samples_name_their_divergence(cli, name):
    done = cli("check", f"ir_samples/divergent/{name}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"openvino: expected: {name}" in done.stdout or f"openvino: not applicable: {name}" in done.stdout
    assert f" {name} (openvino" in done.stdout


def test_what_a_runtime_does_not_have_is_not_applicable(cli):
    done = cli("check", "ir_samples/divergent/custom-operation")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "openvino: not applicable: custom-operation" in done.stdout
    assert "not applicable custom-operation (openvino): operations of the opset ov_gather need our extension" in done.stdout
    assert "layers: 6, passed: 6, failed: 0, not applicable: 6, errors found: 0" in done.stdout


def test_a_layer_that_nothing_else_can_execute_is_a_failure(cli, samples, tmp_path):
    text = (samples / "valid" / "spec_layer.xml").read_text()
    (tmp_path / "u2.xml").write_text(text.replace("FP32", "U2").replace('"f32"', '"u2"'))
    done = cli("check", tmp_path)
    assert done.returncode == 1
    assert "openvino: not applicable: unsafe-small-types" in done.stdout
    assert "extension: not applicable: no-elements-below-a-byte" in done.stdout
    assert "kernel: FAILED (nothing to compare with: no other runtime can execute this" in done.stdout
    assert "layers: 1, passed: 0, failed: 1, not applicable: 2, errors found: 0" in done.stdout


def test_a_wrong_expected_output_is_a_failure(cli, samples, tmp_path):
    for file in (samples / "valid").glob("onnx_page_1.*"):
        shutil.copy(file, tmp_path)
    (tmp_path / "onnx_page_1.expected.json").write_text('{"gather": [[1, 1], [4, 5]]}')
    done = cli("check", tmp_path)
    assert done.returncode == 1
    assert "expected output: FAILED (output[1, 1]: kernel 3.0, here 5.0; 1 of 4 differ)" in done.stdout
    assert "failed: 1" in done.stdout


def test_a_layer_that_cannot_be_executed_is_a_failure(cli):
    done = cli("check", "ir_samples/invalid/OVG402/off_axis.xml")
    assert done.returncode == 1
    assert "not executed: dimension 0 is 3 in data" in done.stdout
    assert "error OVG402" in done.stdout


def test_out_of_bounds_constants_are_refused_by_both(cli):
    done = cli("check", "ir_samples/invalid/OVG601/too_large.xml")
    assert done.returncode == 1
    assert "error OVG601" in done.stdout


def test_an_unreadable_file_does_not_stop_the_others(cli, samples, tmp_path):
    shutil.copy(samples / "invalid" / "OVG001" / "truncated.xml", tmp_path / "a.xml")
    shutil.copy(samples / "valid" / "spec_layer.xml", tmp_path / "b.xml")
    done = cli("check", tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"error: {tmp_path}/a.xml:37: GatherElements 'gather' (layer 2): "
        "not well-formed XML: unclosed token, column 4 (is the file truncated?)\n"
    )
    assert "openvino: passed" in done.stdout


def test_nothing_to_do(cli, tmp_path):
    assert cli("check", tmp_path).returncode == 2
    (tmp_path / "empty.xml").write_text('<net name="n" version="11"><layers/></net>')
    done = cli("check", tmp_path)
    assert done.returncode == 2
    assert "no gather-family layer" in done.stderr


def test_seed_changes_the_inputs_and_is_printed(cli):
    done = cli("check", "ir_samples/divergent/narrowed-to-32-bits", "--seed", 7)
    assert "seed 7" in done.stdout
    assert done.stdout != cli("check", "ir_samples/divergent/narrowed-to-32-bits", "--seed", 8).stdout.replace("8", "7")

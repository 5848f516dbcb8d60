"""A case that fails: made small, written, and run again as its command says."""

import shlex
import shutil
from collections import defaultdict

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import cross_check, read_ir
from ov_gather.crosscheck import reduce
from ov_gather.report.check import html
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.text import summary
from ov_gather.runtimes import isolated


@pytest.fixture
def wrong(monkeypatch):
    """Our kernel, with one value wrong."""
    monkeypatch.setitem(isolated.RUNTIMES, "kernel", ("helpers.artificial_openvino", "OffByOne"))
    monkeypatch.setattr(isolated, "_idle", defaultdict(list))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["spec_layer", "gather_8_open_sizes", "scatter_elements_update_12_none", "onnx_page_1"])
def test_a_failing_case_is_small_and_can_be_run_again(wrong, monkeypatch, cli, tmp_path, name):
    directory = tmp_path / "kept here"
    result = cross_check(VALID / f"{name}.xml", runtimes=["kernel"], failures=directory)
    (layer,) = result.layers
    assert not layer.passed
    (written,) = (case for case in layer.cases if case.replay)
    assert not written.passes_again
    replay = written.replay
    program, *arguments = shlex.split(replay)
    assert program == "ov-gather"
    (folder,) = directory.iterdir()
    kept = read_ir(folder / "layer.xml")
    inputs = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    assert sum(array.size for array in inputs.values()) < 30
    assert [kept.of_type("Parameter")[i].name for i in range(len(inputs))] == [
        text.partition("=")[0] for text in arguments if "=" in text
    ]
    given = [inputs[layer.name] for layer in kept.of_type("Parameter")]
    assert not cross_check(kept, given, runtimes=["kernel"]).passed  # the same failure
    monkeypatch.undo()
    done = cli(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr  # no case fails where the kernel is right
    assert "layers: 1, cases: 2, passed: 1" in done.stdout


def test_a_wrong_expected_output_fails_again(cli, tmp_path):
    """What is expected is written beside the layer: the same layer alone is right."""
    for file in VALID.glob("onnx_page_1.*"):
        shutil.copy(file, tmp_path)
    (tmp_path / "onnx_page_1.expected.json").write_text('{"gather": [[1, 1], [4, 5]]}')
    done = cli("check", tmp_path / "onnx_page_1.xml", "--failures", tmp_path / "found")
    (replay,) = (line.partition("again: ")[2] for line in done.stdout.splitlines() if line.startswith("    again: "))
    again = cli(*shlex.split(replay)[1:], "--failures", tmp_path / "once more")
    assert again.returncode == 1
    assert "expected output: FAILED (output[1, 1]: expected 5.0, here 3.0; 1 of 4 differ)" in again.stdout


def test_a_case_that_does_not_fail_again_says_so(wrong, monkeypatch, tmp_path):
    write = reduce._write

    def write_with_right_kernel(*arguments):
        monkeypatch.setitem(isolated.RUNTIMES, "kernel", ("ov_gather.runtimes.kernel", "KernelRuntime"))
        monkeypatch.setattr(isolated, "_idle", defaultdict(list))
        return write(*arguments)

    monkeypatch.setattr(reduce, "_write", write_with_right_kernel)
    result = cross_check(VALID / "spec_layer.xml", runtimes=["kernel"], failures=tmp_path)
    (written,) = (case for case in result.layers[0].cases if case.replay)
    assert written.passes_again
    report = CheckReport([result])
    assert any("    again, though it passes alone: ov-gather check " in line for line in summary([result]))
    assert "To run it again, though it passes alone:" in html.render(report)


def test_nothing_is_written_where_nothing_fails(tmp_path):
    assert cross_check(VALID / "spec_layer.xml", runtimes=["kernel"], failures=tmp_path / "none").passed
    assert list(tmp_path.iterdir()) == []

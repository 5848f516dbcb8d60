"""A case that fails: made small, written, and run again as its command says."""

from __future__ import annotations

import shlex
from collections import defaultdict

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import cross_check, read_ir
from ov_gather.runtimes import isolated

pytestmark = pytest.mark.slow


@pytest.fixture
def wrong(monkeypatch):
    """Our kernel, with one value wrong."""
    monkeypatch.setitem(isolated.RUNTIMES, "kernel", ("helpers.artificial_openvino", "OffByOne"))
    monkeypatch.setattr(isolated, "_idle", defaultdict(list))


@pytest.mark.parametrize("name", ["spec_layer", "gather_8_open_sizes", "scatter_elements_update_12_none", "onnx_page_1"])
def test_a_failing_case_is_small_and_can_be_run_again(wrong, monkeypatch, cli, tmp_path, name):
    directory = tmp_path / "kept here"
    result = cross_check(VALID / f"{name}.xml", runtimes=["kernel"], failures=directory)
    (layer,) = result.layers
    assert not layer.passed
    (replay,) = (case.replay for case in layer.cases if case.replay)
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


def test_nothing_is_written_where_nothing_fails(tmp_path):
    assert cross_check(VALID / "spec_layer.xml", runtimes=["kernel"], failures=tmp_path / "none").passed
    assert list(tmp_path.iterdir()) == []

"""`ov-gather bench`: a command that measures; here only that it measures the right thing and reports it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from ov_gather import read_ir, validate
from ov_gather.bench import contenders, measure
from ov_gather.bench.cases import NAMES, make
from ov_gather.bench.validation import generate


def test_one_case(cli, tmp_path):
    done = cli("bench", "--case", "tiny", "--threads", 1, "--json", tmp_path / "b.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "geometric mean" in done.stdout
    written = json.loads((tmp_path / "b.json").read_text())
    (case,) = written["cases"]
    assert (written["threads"], case["case"]) == (1, "tiny")
    assert {"kernel", "numpy", "openvino", "onnxruntime", "copy"} <= set(case["seconds"])
    assert all(seconds > 0 for seconds in case["seconds"].values())


def test_a_contender_whose_result_differs_is_not_reported(monkeypatch):
    def wrong(case, threads):
        return lambda: None, lambda: np.zeros(case.shape, case.data.dtype)

    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": contenders.kernel, "wrong": wrong})
    measured = measure.measure(make("tiny"), 1)
    assert measured.excluded == {"wrong": "its result differs"}
    assert set(measured.seconds) == {"kernel"}


@pytest.mark.parametrize("name", NAMES)
def test_cases_fit_what_their_names_say(name):
    case = make(name)
    assert case.data.ndim == len(case.shape) == case.own_indices.ndim
    assert case.own_indices.min() >= 0
    assert case.own_indices.max() < case.data.shape[case.axis]
    assert case.is_expanded == (name in ("gnn", "topk_rows"))


def test_our_own_kernel_must_be_right(monkeypatch):
    def wrong(case, threads):
        return lambda: None, lambda: np.zeros(case.shape, case.data.dtype)

    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": wrong, "numpy": contenders.numpy})
    with pytest.raises(ValueError, match="tiny: our own kernel did not take part: its result differs"):
        measure.measure(make("tiny"), 1)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_validate(cli):
    done = cli("bench", "validate", "--layers", 300, "--rounds", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"time: .*x \(.*\)\npeak memory: .*x \(.*\)\n", done.stdout)


def test_the_model_for_validation(tmp_path):
    generate(tmp_path / "m.xml", 300)
    assert validate(tmp_path / "m.xml") == []
    assert 250 < len(read_ir(tmp_path / "m.xml").layers) < 300

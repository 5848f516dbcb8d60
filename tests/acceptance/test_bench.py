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
from ov_gather.bench.gather import Gather
from ov_gather.bench.gather_nd import GatherND
from ov_gather.bench.scatter_elements import ScatterElements
from ov_gather.bench.validation import generate
from ov_gather.report.bench.cases import render

pytestmark = pytest.mark.slow


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
    assert case.numpy().shape == case.shape
    assert case.own_indices.min() >= 0
    assert getattr(case, "is_expanded", False) == (name in ("gnn", "topk_rows"))


DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
SMALL = [
    Gather("gather", DATA, np.array([[2, 0], [1, 1]]), 1),
    Gather("batch", DATA, np.array([[2, 0], [1, 1]]), 1, 1),
    GatherND("tuples", DATA, np.array([[[2, 3]], [[0, 1]]])),
    ScatterElements("scatter", DATA[0], np.array([[2, 0, 1, 2]]), -DATA[0, :1], 0),
]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_all_who_are_installed_do_the_same_work(monkeypatch, case):
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "BLOCK", 0)
    measured = measure.measure(case, 1)
    assert measured.excluded.items() <= {"torch": "not installed (torch)"}.items()


def test_groups_have_means_of_their_own():
    times = {"kernel": 1.0, "torch": 2.0}
    rows = [measure.Measurement(name, name, 10, times, {}) for name in ("one", "two")]
    summary = ["geometric mean", "the same from 1 MB", "worst case"]
    assert list(render(rows).columns[0].cells) == ["one", *summary, "two", *summary]


def test_our_own_kernel_must_be_right(monkeypatch):
    def wrong(case, threads):
        return lambda: None, lambda: np.zeros(case.shape, case.data.dtype)

    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": wrong, "numpy": contenders.numpy})
    with pytest.raises(ValueError, match="tiny: our own kernel did not take part: its result differs"):
        measure.measure(make("tiny"), 1)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_validate(real_cli):
    done = real_cli("bench", "validate", "--layers", 300, "--rounds", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"time: .*x \(.*\)\npeak memory: .*x \(.*\)\n", done.stdout)


def test_the_model_for_validation(tmp_path):
    generate(tmp_path / "m.xml", 300)
    assert validate(tmp_path / "m.xml") == []
    assert 250 < len(read_ir(tmp_path / "m.xml").layers) < 300

"""`ov-gather bench`: a command that measures; here only that it measures the right thing and reports it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ov_gather import read_ir, validate
from ov_gather.bench import measure
from ov_gather.bench.cases import NAMES, make
from ov_gather.bench.gather_cases import Gather, GatherND
from ov_gather.bench.scatter_cases import ScatterElements, ScatterND
from ov_gather.bench.validation import generate
from ov_gather.cli.bench import command
from ov_gather.report.bench import cases_table

pytestmark = pytest.mark.slow

ONE = measure.BenchConditions(threads=1)


def test_one_case(cli, tmp_path):
    done = cli("bench", "--case", "tiny", "--threads", 1, "--json", tmp_path / "b.json", code=0)
    assert "geometric mean" in done.stdout
    written = json.loads((tmp_path / "b.json").read_text())
    (case,) = written["cases"]
    assert (written["threads"], written["precision"], case["case"]) == (1, "f32", "tiny")
    assert {"kernel", "numpy", "openvino", "onnxruntime", "limit"} <= set(case["seconds"])
    assert all(seconds > 0 for seconds in case["seconds"].values())


def wrong(case, conditions):
    return lambda: None, lambda: np.zeros(case.shape, case.data.dtype)


@pytest.mark.parametrize("differs", [True, False])
def test_only_a_result_that_differs_fails(monkeypatch, tmp_path, differs):
    """A contender that refuses a case does not, whatever the words of its refusal."""

    def refuses(case, conditions):
        raise RuntimeError("the layout differs")

    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": measure.kernel, "other": wrong if differs else refuses})
    done = CliRunner().invoke(command, ["--case", "tiny", "--threads", "1", "--json", str(tmp_path / "b.json")])
    reason = "its result differs" if differs else "the layout differs"
    assert done.exit_code == differs
    assert f"tiny: other did not take part: {reason}\n" in done.output
    (case,) = json.loads((tmp_path / "b.json").read_text())["cases"]
    assert (case["excluded"], set(case["seconds"])) == ({"other": reason}, {"kernel"})


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"embedding_1gb", "vector_400mb"}))
def test_cases_fit_what_their_names_say(name):
    case = make(name)
    assert case.numpy().shape == case.shape
    assert case.own_indices.min() >= 0
    assert getattr(case, "is_expanded", False) == (name in ("gnn", "topk_rows", "scatter_rows", "scatter_rows_sum"))
    assert (case.group == "calls") == (name.startswith("call_"))


DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
SMALL = [
    Gather("gather", DATA, np.array([[2, 0], [1, 1]]), 1),
    Gather("batch", DATA, np.array([[2, 0], [1, 1]]), 1, 1),
    GatherND("tuples", DATA, np.array([[[2, 3]], [[0, 1]]])),
    ScatterElements("scatter", DATA[0], np.array([[2, 0, 1, 2]]), -DATA[0, :1], 0),
    ScatterElements("scatter_last", DATA[0], np.array([[2, 0], [1, 3], [3, 2]]), -DATA[0, :, :2], 1),
    ScatterElements("scatter_rows_sum", DATA[0], np.array([[2], [0], [2]]), -DATA[0], 0, reduction="sum"),
    ScatterND("scatter_nd", DATA[0], np.array([[2], [0]]), -DATA[0, :2]),
    ScatterND("one_number", DATA[0, :, :1].copy(), np.array([[2]]), -DATA[0, :1, :1]),
]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_all_who_are_installed_do_the_same_work(monkeypatch, case):
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "BLOCK", 0)
    measured = measure.measure(case, ONE)
    assert measured.excluded.items() <= {"torch": measure.Exclusion("not installed (torch)")}.items()


def test_the_limit_copies_the_least_bytes():
    """Rows that are read often count once; rows of a table that are not read do not count."""
    often = Gather("often", DATA[0], np.zeros(100, np.int64), 0)
    seldom = Gather("seldom", np.zeros((1000, 4), np.float32), np.zeros(2, np.int64), 0)
    for case, size in ((often, 48 + 800 + 1600), (seldom, 16 + 2 * 32)):
        run, _ = measure.limit(case, ONE)
        assert max(array.nbytes for array in run.args if isinstance(array, np.ndarray)) == size // 2


def test_groups_have_means_of_their_own():
    times = {"kernel": 1.0, "torch": 2.0}
    rows = [measure.Measurement(name, name, 10, times, {}) for name in ("one", "two")]
    summary = ["geometric mean", "the same from 1 MB", "worst case"]
    assert list(cases_table(rows).columns[0].cells) == ["one", *summary, "two", *summary]


def test_our_own_kernel_must_be_right(monkeypatch):
    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": wrong, "numpy": measure.numpy})
    with pytest.raises(ValueError, match="tiny: our own kernel did not take part: its result differs"):
        measure.measure(make("tiny"), ONE)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_validate(real_cli):
    done = real_cli("bench", "validate", "--layers", 300, "--rounds", 1, code=0)
    assert re.fullmatch(r"time: .*x \(.*\)\npeak memory: .*x \(.*\)\n", done.stdout)


def test_the_model_for_validation(tmp_path):
    generate(tmp_path / "m.xml", 300)
    assert validate(tmp_path / "m.xml") == []
    assert 250 < len(read_ir(tmp_path / "m.xml").layers) < 300

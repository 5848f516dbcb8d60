"""`ov-gather bench`: a command that measures; here only that it measures the right thing and reports it."""

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from click.testing import CliRunner

from helpers.paths import SAMPLES, VALID
from ov_gather import read_ir, validate
from ov_gather.bench import contenders, measure, runs, validation
from ov_gather.bench.aggregation_cases import Aggregation
from ov_gather.bench.cases import INDEX_TYPES, NAMES, make
from ov_gather.bench.gather_cases import Gather, GatherND
from ov_gather.bench.scatter_cases import ScatterElements, ScatterND
from ov_gather.bench.spread import Spread
from ov_gather.cli.bench import command
from ov_gather.kernels import native
from ov_gather.report.bench import cases_table

ONE = measure.BenchConditions(threads=1)
COMPILED = ("torch", "torch_compile", "jax", "jax_unchecked")


@pytest.mark.exhaustive
def test_two_runs_of_one_case(cli, tmp_path):
    arguments = ("--case", "tiny", "--threads", 1, "--runs", 2, "--index-type", "i32", "--json", tmp_path / "b.json")
    done = cli("bench", *arguments, code=0)
    assert "geometric mean" in done.stdout
    assert "threads: 1, runs: 2, indices: i32, OpenVINO in f32\n" in done.stdout
    written = json.loads((tmp_path / "b.json").read_text())
    (case,) = written["cases"]
    assert (written["threads"], written["precision"], written["index_type"], written["runs"]) == (1, "f32", "i32", 2)
    assert (case["case"], case["bytes"]) == ("tiny", 150 * (4 + 2 * 4))
    assert {"kernel", "numpy", "openvino", "extension", "onnxruntime", "limit"} <= set(case["seconds"])
    first, second = case["runs"]
    assert set(first) == set(second) == set(case["seconds"])
    assert all(len(times) == measure.ROUNDS and min(times) > 0 for times in (*first.values(), *second.values()))
    for name, ratio in case["ratios"].items():
        each = sorted(
            median(other / mine for other, mine in zip(run[name], run[ratio["to"]], strict=True)) for run in case["runs"]
        )
        assert ratio == {
            "to": "extension" if name == "openvino" else "kernel",
            "low": each[0],
            "median": median(each),
            "high": each[1],
        }


def in_this_process(names, conditions):
    for name in names:
        yield measure.measure(make(name), conditions)


def wrong(case, conditions):
    return lambda: None, lambda: np.zeros(case.shape, case.data.dtype)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("differs", [True, False])
def test_only_a_result_that_differs_fails(monkeypatch, tmp_path, differs):
    """A contender that refuses a case does not, whatever the words of its refusal. Refusals of all cases are one line."""

    def refuses(case, conditions):
        raise RuntimeError("the layout differs")

    monkeypatch.setattr("ov_gather.bench.runs.run_once", in_this_process)
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": contenders.kernel, "other": wrong if differs else refuses})
    json_file = tmp_path / "b.json"
    arguments = ["--case", "tiny", "--threads", "1", "--json", str(json_file)]
    for more, cases in (["--case", "vector_1k"], "all cases"), ([], "tiny"):
        done = CliRunner().invoke(command, [*arguments, *more, "--force"])
        reason = "its result differs" if differs else "the layout differs"
        assert done.exit_code == differs
        assert f"{cases}: other did not take part: {reason}\n" in done.output
    (case,) = json.loads(json_file.read_text())["cases"]
    assert (case["excluded"], set(case["seconds"])) == ({"other": reason}, {"kernel"})


def test_a_process_that_ends_early_is_an_error():
    with pytest.raises(RuntimeError, match=r"^no such case: the process of the benchmark ended with exit code 1$"):
        list(runs.run_once(["no such case"], ONE))


def test_an_error_of_the_process_is_raised(monkeypatch):
    planted = "from ov_gather.bench import measure, runs; measure.CONTENDERS = {{'kernel': lambda *_: 1 / 0}}; runs.main()"
    monkeypatch.setattr(runs, "_PROGRAM", f"import sys; sys.path[:] = {{path!r}}; {planted}")
    with pytest.raises(ValueError, match=r"^tiny: our own kernel did not take part: division by zero$"):
        list(runs.run_once(["tiny"], ONE))


def test_threads_and_instructions_of_peers():
    assert runs.environment(3, {"A": "b", "OV_GATHER_ISA": "avx512"}).items() >= {"A": "b", "NPROC": "3"}.items()
    assert "ATEN_CPU_CAPABILITY" not in runs.environment(3, {"OV_GATHER_ISA": "avx512"})
    limited = runs.environment(1, {"OV_GATHER_ISA": "avx2", "XLA_FLAGS": "--other"})
    assert (limited["ATEN_CPU_CAPABILITY"], limited["TORCHINDUCTOR_CPP_MARCH"]) == ("avx2", "x86-64-v3")
    assert (limited["ONEDNN_MAX_CPU_ISA"], limited["XLA_FLAGS"]) == ("AVX2", "--other --xla_cpu_max_isa=AVX2")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"embedding_1gb", "vector_400mb"}))
def test_cases_fit_what_their_names_say(name):
    case = make(name)
    assert case.numpy().shape == case.shape
    assert case.own_indices.min() >= 0
    assert getattr(case, "is_expanded", False) == (name in ("gnn", "topk_rows", "scatter_rows", "scatter_rows_sum"))
    assert (case.group == "calls") == (name.startswith("call_"))
    assert case.own_indices.dtype == np.int64
    assert make(name, "i32").own_indices.dtype == np.int32


DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
SMALL = [
    Gather("gather", DATA, np.array([[2, 0], [1, 1]]), 1),
    Gather("batch", DATA, np.array([[2, 0], [1, 1]]), 1, 1),
    GatherND("tuples", DATA, np.array([[[2, 3]], [[0, 1]]])),
    ScatterElements("scatter", DATA[0], np.array([[2, 0, 1, 2]]), -DATA[0, :1], 0),
    ScatterElements("scatter_last", DATA[0], np.array([[2, 0], [1, 3], [3, 2]]), -DATA[0, :, :2], 1),
    ScatterElements("scatter_rows_sum", DATA[0], np.array([[2], [0], [2]]), -DATA[0], 0, reduction="sum"),
    ScatterND("scatter_nd", DATA[0], np.array([[2], [0]]), -DATA[0, :2]),
    Aggregation("aggregation", DATA[0], np.array([2, 0, 2, 1]), np.array([0, 2, 2, 2])),
    ScatterND("one_number", DATA[0, :, :1].copy(), np.array([[2]]), -DATA[0, :1, :1]),
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("index_type", INDEX_TYPES)
@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_all_who_are_installed_do_the_same_work(monkeypatch, case, index_type):
    """ONNX has GatherND, which is also its gather with a batch, and ScatterND for i64 alone."""
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "BLOCK", 0)
    measured = measure.measure(replace(case, own_indices=case.own_indices.astype(INDEX_TYPES[index_type])), ONE)
    refused = {"onnxruntime"} if index_type == "i32" and case.name in ("batch", "tuples", "scatter_nd", "one_number") else set()
    absent = {name: measure.Exclusion(f"not installed ({name.split('_')[0]})") for name in COMPILED}
    assert {name: why for name, why in measured.excluded.items() if name not in refused}.items() <= absent.items()
    assert refused <= measured.excluded.keys() and not any(why.differs for why in measured.excluded.values())


def test_compiled_peers_have_64_bits_for_data_of_64_bits():
    """JAX would compute in 32 bits otherwise."""
    pytest.importorskip("jax")
    large = Gather("large", np.array([1 << 40, 3]), np.array([0, 0]), 0)
    _, result = contenders.jax(large, ONE)
    assert result().tolist() == [1 << 40, 1 << 40]
    _, result = contenders.jax(SMALL[0], ONE)
    assert result().dtype == np.float32


@pytest.mark.skipif(sys.platform != "linux", reason="switches of a thread are counted on Linux")
@pytest.mark.parametrize("contender", [contenders.openvino, contenders.extension])
def test_inferences_wait_for_no_other_thread(contender):
    """Else the time of a small model is that of waking threads, whatever the model."""
    import resource

    run, _ = contender(SMALL[0], ONE)
    run()
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    for _ in range(200):
        run()
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before < 50


def test_the_limit_copies_the_least_bytes():
    """Rows that are read often count once; rows of a table that are not read do not count."""
    often = Gather("often", DATA[0], np.zeros(100, np.int64), 0)
    seldom = Gather("seldom", np.zeros((1000, 4), np.float32), np.zeros(2, np.int64), 0)
    for case, size in ((often, 48 + 800 + 1600), (seldom, 16 + 2 * 32)):
        run, _ = contenders.limit(case, ONE)
        assert max(array.nbytes for array in run.args if isinstance(array, np.ndarray)) == size // 2


def test_lookups_beyond_the_caches_have_the_limits_of_single_loads(monkeypatch):
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "BLOCK", 0)
    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": contenders.kernel})
    with_limits = {
        name for name in NAMES if name.startswith("vector") and name != "vector_400mb" and contenders.limits_of(make(name))
    }
    assert with_limits == {"vector", "vector_1m", "vector_2m", "vector_4m", "vector_table"}
    assert not contenders.limits_of(make("rows"))
    found = measure.measure(make("vector_1m"), ONE)
    assert set(found.rounds) == {"kernel", "loads", "latency"}
    assert 0 < found.ratio("loads").median < 10 * found.ratio("latency").median
    assert "loads" in [column.header for column in cases_table([measure.Runs([found])]).columns]


def test_walks_follow_one_cycle_through_all_places():
    following = contenders.random_cycle(1000)
    places, seen = np.array([0, 7], np.int32), []
    for _ in range(1000):
        native.load().chase(following, places, 1)
        seen.append(int(places[0]))
    assert sorted(seen) == list(range(1000))
    assert places.tolist() == [0, 7]
    expected = np.array([0, 7])
    for _ in range(5):
        expected = following[expected]
    native.load().chase(following, places, 5)
    assert places.tolist() == expected.tolist()


def measured(name, torch, kernel=(1.0, 1.0, 1.0, 1.0, 1.0)):
    return measure.Measurement(name, name, 10, {"kernel": kernel, "torch": torch}, {})


def test_groups_have_means_of_their_own():
    """Contenders that took part in no case have no column."""
    cases = [measure.Runs([measured(name, torch=[2.0] * 5)]) for name in ("one", "two")]
    summary = ["geometric mean", "the same from 1 MB", "worst case"]
    table = cases_table(cases)
    assert list(table.columns[0].cells) == ["one", *summary, "two", *summary]
    assert [column.header for column in table.columns] == ["case", "kernel ms", "torch"]


def test_quartiles_of_one_run_and_the_range_of_several():
    """Ratios are of the same round."""
    first = measured("a", torch=[2.0, 4.0, 6.0, 8.0, 2.0], kernel=[1.0, 2.0, 2.0, 2.0, 2.0])
    three = [first, measured("a", torch=[1.0] * 5), measured("a", torch=[6.0] * 5)]
    assert first.ratio("torch") == measure.Runs([first]).ratio("torch") == Spread(2.0, 2.0, 3.0)
    assert measure.Runs(three).ratio("torch") == Spread(1.0, 2.0, 6.0)
    assert measure.Runs(three).ratio("numpy") is None
    cells = list(cases_table([measure.Runs(three)]).columns[2].cells)
    assert cells == ["2.00 ±125%", "2.00 ±125%", "-", "2.00 ±125%"]
    assert list(cases_table([measure.Runs([first])]).columns[2].cells) == ["2.00 ±25%", "2.00", "-", "2.00 ±25%"]


def test_our_own_kernel_must_be_right(monkeypatch):
    monkeypatch.setattr(measure, "CONTENDERS", {"kernel": wrong, "numpy": contenders.numpy})
    with pytest.raises(ValueError, match="tiny: our own kernel did not take part: its result differs"):
        measure.measure(make("tiny"), ONE)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_validate(real_cli):
    done = real_cli("bench", "validate", "--layers", 300, "--rounds", 1, code=0)
    assert re.fullmatch(r"time: .*x \(.*\)\npeak memory: .*x \(.*\)\n", done.stdout)


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_validate_a_given_model(real_cli):
    done = real_cli("bench", "validate", VALID / "spec_layer.xml", "--rounds", 1, code=0)
    assert re.fullmatch(r"time: .*x \(.*\)\npeak memory: .*x \(.*\)\n", done.stdout)
    wrong = SAMPLES / "invalid" / "OVG204" / "axis_3.xml"
    assert real_cli("bench", "validate", wrong, "--rounds", 1, code=2).stderr.startswith(f"error: {wrong}: Axis 3 out of ")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_validate_a_directory(real_cli, tmp_path):
    sources = [path for path in sorted(VALID.glob("*.xml")) if not path.with_suffix(".bin").exists()][:2]
    for path in (*sources, SAMPLES / "invalid" / "OVG204" / "axis_3.xml"):
        shutil.copy(path, tmp_path)
    done = real_cli("bench", "validate", tmp_path, "--rounds", 1, code=0)
    left_out, count, *costs = done.stdout.splitlines()
    assert left_out.startswith(f"left out: {tmp_path / 'axis_3.xml'}: ")
    assert count == "models: 2"
    names = "|".join(re.escape(str(tmp_path / path.name)) for path in sources)
    for line, what in zip(costs, ("time", "peak memory"), strict=True):
        ratio = r"\d+\.\d\dx"
        form = rf"{what}: median {ratio}, quartiles {ratio} and {ratio}, worst {ratio} \(({names})\), all together {ratio}"
        assert re.fullmatch(form, line)


def test_the_distribution_of_costs():
    of_ratios = {
        Path(f"{ratio}.xml"): validation.Cost(ratio * theirs, theirs, ratio) for ratio, theirs in ((1, 1), (2, 1), (3, 98))
    }
    found = validation.Distribution.over(of_ratios)
    assert (found.quartiles.median, found.worst, found.of, found.together) == (2, 3, Path("3.xml"), (1 + 2 + 3 * 98) / 100)


def test_a_reader_that_ends_without_a_word_is_named_by_its_exit_code(monkeypatch):
    monkeypatch.setattr(validation, "_READ_MODEL", "import os; work = lambda path: os._exit(3)")
    with pytest.raises(ValueError, match=r"spec_layer\.xml: exit code 3"):
        validation.measure(VALID / "spec_layer.xml", 1)


def test_the_model_for_validation(tmp_path):
    validation.generate(tmp_path / "m.xml", 300)
    assert validate(tmp_path / "m.xml") == []
    assert 250 < len(read_ir(tmp_path / "m.xml").layers) < 300


def test_a_reader_that_says_what_is_no_text_is_named(monkeypatch):
    """OpenVINO repeats bytes of a damaged file."""
    work = r"import os; work = lambda path: (os.write(2, b'\xff is no text'), os._exit(3))"
    monkeypatch.setattr(validation, "_READ_MODEL", work)
    with pytest.raises(ValueError, match=r"spec_layer\.xml: \ufffd is no text"):
        validation.measure(VALID / "spec_layer.xml", 1)

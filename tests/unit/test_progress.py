"""What `check` tells of its progress, and what is left of a check that is stopped."""

import json
from dataclasses import dataclass
from threading import Event

import pytest

from ov_gather.cli import output
from ov_gather.crosscheck import check
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.results import CaseResult, Comparison, LayerResult, Status
from ov_gather.crosscheck.runtime_queue import RunningCase
from ov_gather.report.check import html, junit, text
from ov_gather.report.check import json as check_json
from ov_gather.report.check.report import CheckReport
from ov_gather.system import interrupts


@dataclass
class ARuntime:
    name: str
    version: str = "1"


@dataclass
class AQueue:
    runtime: ARuntime
    running: RunningCase | None = None


def layer(name):
    case = CaseResult("random", ((2,),), 1, (Comparison("kernel", Status.PASSED),))
    return LayerResult("m.xml", name, "Gather-8", cases=(case,))


@pytest.fixture
def progress(monkeypatch):
    """Three layers, of which the last and then the first are done, while a runtime hangs since the sixth second of forty."""
    times = iter([100.0])
    monkeypatch.setattr("ov_gather.crosscheck.progress.monotonic", lambda: next(times, 140.0))
    made = Progress()
    made.begin("m.xml", 3, 2026)
    slow = RunningCase("Gather-8 'slow', case 'random'", 106.0)
    made.watch([AQueue(ARuntime("kernel")), AQueue(ARuntime("openvino"), slow), AQueue(ARuntime("extension"))])
    made.add(2, layer("last"))
    made.add(0, layer("first"))
    return made


def test_the_line_names_what_takes_longest(progress):
    what = "openvino has been executing Gather-8 'slow', case 'random' for 34 s"
    assert str(progress) == f"m.xml: 2 of 3 layers after 40 s; {what}"


def test_what_is_done_is_kept_in_the_order_of_the_model(progress):
    partial = progress.partial()
    assert [layer.layer for layer in partial.layers] == ["first", "last"]
    assert partial.environment.versions == {"kernel": "1", "openvino": "1", "extension": "1"}
    progress.begin("other.xml")
    assert progress.partial() is None
    assert str(progress).startswith("other.xml: reading after 40 s")


def test_of_several_files_the_line_says_which(progress):
    progress.begin_file("a.xml", 9)
    progress.begin_file("b.xml", 9)
    progress.begin("b.xml", 72)
    for position in range(12):
        progress.add(position, layer(str(position)))
    assert str(progress) == "b.xml: 12 of 72 layers, file 2 of 9 after 40 s"
    alone = Progress()
    alone.begin_file("b.xml", 1)
    assert "file" not in str(alone)


def test_what_is_done_to_the_whole_model_is_named(progress):
    progress.step("executing the model")
    assert str(progress) == "m.xml: 2 of 3 layers after 40 s; executing the model"
    progress.step("")
    assert "has been executing Gather-8 'slow'" in str(progress)
    progress.begin_file("m.onnx", 2)
    assert str(progress).startswith("m.onnx: reading, file 1 of 2 after")
    progress.step("checking gather 3 of 5")
    assert str(progress).startswith("m.onnx: checking gather 3 of 5, file 1 of 2 after")


def test_the_bar_says_file_and_step(monkeypatch, progress):
    progress.begin_file("b.xml", 9)
    progress.begin("b.xml", 72)
    progress.step("executing the model")
    described, stop = [], Event()

    def update(bar, task, *, description, completed, total):
        described.append((description, completed, total))
        stop.set()

    monkeypatch.setattr("rich.progress.Progress.update", update)
    monkeypatch.setattr(output, "_ON_A_TERMINAL", 0.001)
    output._bar(progress, stop)
    assert described == [("file 1 of 9, b.xml; executing the model", 0, 72)]


@pytest.mark.openvino
def test_steps_of_a_check_in_their_order(monkeypatch, tmp_path, copied):
    for stem in "ab":
        copied("valid/deberta_bias", stem=stem)
    told = []
    monkeypatch.setattr(Progress, "step", lambda self, what: told.append((self.file, self.done, what)))
    check.check_paths([tmp_path], runtimes=("kernel", "openvino"))
    assert [one for one in told if one[2]] == [
        (file, done, what)
        for file in (1, 2)
        for done, what in (
            (0, "probing libraries of operations"),
            (0, "executing the model on OpenVINO"),
            (0, "computing the operands of layers 1 to 2"),
            (2, "executing the model with our gathers"),
            (2, "comparing other layers with their definitions"),
        )
    ]
    assert [what for _, done, what in told if not done][1::2] == [""] * 6  # layers are executed one by one between them


def test_a_pipe_gets_lines(monkeypatch, capsys):
    said = Event()

    class Telling(Progress):
        def __str__(self):
            said.set()
            return "m.xml: 2 of 3 layers"

    monkeypatch.setattr(output, "_IN_A_PIPE", 0.001)
    with output.shown(Telling()):
        assert said.wait(60)
    assert capsys.readouterr().err.splitlines()[0] == "checking m.xml: 2 of 3 layers"


def test_a_check_that_is_stopped_gives_what_is_done(monkeypatch, tmp_path, copied):
    for stem in "ab":
        copied("valid/spec_layer", stem=stem)

    def stopped_in_the_second(model, inputs, *, progress, **options):
        progress.begin(model.path, 2)
        progress.add(0, layer("first"))
        if model.path.endswith("b.xml"):
            monkeypatch.setattr(interrupts, "_ended_by", [130])
            raise SystemExit(130)
        return progress.partial()

    monkeypatch.setattr(check, "cross_check", stopped_in_the_second)
    outcome = check.check_paths([tmp_path], runtimes=("kernel",))
    assert len(outcome.results) == 2
    assert outcome.stopped.startswith(f"{tmp_path / 'b.xml'}: 1 of 2 layers, file 2 of 2 after")


def test_an_error_of_ours_is_no_stop(monkeypatch, tmp_path, samples):
    def fault(*arguments, **options):
        raise RecursionError("too deep")

    monkeypatch.setattr(check, "cross_check", fault)
    with pytest.raises(RecursionError):
        check.check_paths([samples / "valid" / "spec_layer.xml"], runtimes=("kernel",))


def test_every_format_says_that_it_is_partial(progress):
    report = CheckReport([progress.partial()], stopped="m.xml: 2 of 3 layers")
    assert not report.passed
    assert json.loads(check_json.render(report))["partial"] == "m.xml: 2 of 3 layers"
    assert 'message="stopped at m.xml: 2 of 3 layers"' in junit.render(report)
    assert "This is partial: the check was stopped at m.xml: 2 of 3 layers." in html.render(report)
    assert [*text.totals(report)][-1] == "partial: stopped at m.xml: 2 of 3 layers"
    whole = CheckReport([progress.partial()])
    assert whole.passed
    assert json.loads(check_json.render(whole))["partial"] == ""


def test_nothing_is_counted_before_it_begins(monkeypatch):
    monkeypatch.setattr("ov_gather.crosscheck.progress.monotonic", lambda: 7.0)
    made = Progress()
    assert (made.total, made.done, made.unit, made.partial()) == (0, 0, "layers", None)
    assert str(made) == ": reading after 0 s"


def test_of_several_runtimes_that_which_takes_longest_is_named(progress):
    running = {
        "kernel": RunningCase("later", 120.0),
        "openvino": RunningCase("earlier", 106.0),
        "extension": RunningCase("last", 130.0),
    }
    progress.watch([AQueue(ARuntime(name), case) for name, case in running.items()])
    assert progress.longest == "; openvino has been executing earlier for 34 s"

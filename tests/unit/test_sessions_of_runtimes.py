"""What a check asks of a runtime, case by case, and how a failed case is made smaller."""

from contextlib import nullcontext
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import read_ir
from ov_gather.crosscheck import reduce
from ov_gather.crosscheck import runtime_queue as lanes
from ov_gather.crosscheck.cases.designed import Case, as_cases
from ov_gather.crosscheck.reduce import ATTEMPTS, Reducer, new_folder
from ov_gather.crosscheck.results import CaseResult, Comparison, Status
from ov_gather.crosscheck.runtime_queue import PreparedCase, RuntimeQueue
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers
from ov_gather.runtimes.base import RefusedError
from ov_gather.system.worker import CrashedError, HungError

VIEW = SimpleNamespace(operation=SimpleNamespace(name="Gather-8", outputs=("output",)), layer=SimpleNamespace(name="g"))
RIGHT = np.zeros(1)
WRONG_INDEX = IndexError("out of bounds")


class Asked:
    """A runtime that notes what it is asked, and answers as it is told."""

    name, version, devices, seconds = "openvino", "1", ("CPU",), 0.5

    def __init__(self, *answers, loads=()):
        self.log, self._answers, self._loads = [], list(answers), list(loads)

    def activate(self, model, threads):
        self.log.append(f"load {model} {threads}")
        if self._loads and (error := self._loads.pop(0)):
            raise error

    def execute(self, inputs):
        self.log.append("execute")
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [answer]

    def close(self):
        self.log.append("free")

    def stop(self):
        self.log.append("stop")


@pytest.fixture(autouse=True)
def judged(monkeypatch):
    """Nothing is known of the runtime: right is what is expected."""

    def judge(name, version, right, observation, view, operands, devices):
        both = isinstance(right, Exception), isinstance(observation.outcome, Exception)
        status = Status.PASSED if both[0] == both[1] else Status.FAILED
        return Comparison(name, status, str(observation.outcome) if both[1] else "", seconds=observation.seconds)

    monkeypatch.setattr(lanes, "judge", judge)
    monkeypatch.setattr(lanes, "explaining", lambda *_: iter(()))


def trial(right=RIGHT, threads=1, out_of_bounds=False, name="c"):
    return PreparedCase(Case(name, (), threads, out_of_bounds), (), right)


BAD = {"right": WRONG_INDEX, "out_of_bounds": True}


def run(runtime, *trials, is_last=True, model="m"):
    with RuntimeQueue(runtime) as lane:
        found = lane.submit(model, VIEW, trials, is_last=is_last).result()
        assert lane.running is None
    return found


def test_a_model_is_loaded_once_for_so_many_threads():
    runtime = Asked(RIGHT, RIGHT, RIGHT)
    found = run(runtime, trial(), trial(), trial(threads=2))
    assert runtime.log == ["load m 1", "execute", "execute", "free", "load m 2", "execute", "free"]
    assert [(one.status, one.seconds) for one in found.comparisons] == [(Status.PASSED, 0.5)] * 3
    assert found.crashes == []


def test_it_stays_loaded_until_the_last():
    runtime = Asked(RIGHT, RIGHT, RIGHT)
    with RuntimeQueue(runtime) as lane:
        lane.submit("m", VIEW, [trial()], is_last=False).result()
        assert runtime.log == ["load m 1", "execute"]
        lane.submit("m", VIEW, [trial()], is_last=False).result()
        lane.submit("n", VIEW, [trial()], is_last=True).result()
    assert runtime.log[2:] == ["execute", "free", "load n 1", "execute", "free"]


def test_after_a_refusal_it_is_loaded_again():
    """Not for another index out of bounds."""
    runtime = Asked(RefusedError("no"), RefusedError("no"), RIGHT, RIGHT)
    run(runtime, trial(**BAD), trial(**BAD), trial(), trial())
    assert runtime.log == ["load m 1", "execute", "execute", "free", "load m 1", "execute", "execute", "free"]


def test_after_an_answer_that_should_be_an_error_the_process_is_new():
    runtime = Asked(RIGHT, RIGHT, RIGHT, RIGHT)
    run(runtime, trial(**BAD), trial(**BAD), trial(), trial())
    assert runtime.log == ["load m 1", "execute", "execute", "stop", "load m 1", "execute", "execute", "free"]
    runtime = Asked(RIGHT)
    run(runtime, trial(**BAD))
    assert runtime.log == ["load m 1", "execute", "stop"]


def test_an_answer_as_predicted_is_not_suspect(monkeypatch):
    monkeypatch.setattr(lanes, "is_predicted", lambda names: True)
    runtime = Asked(RIGHT, RIGHT)
    run(runtime, trial(**BAD), trial())
    assert runtime.log == ["load m 1", "execute", "execute", "free"]


def test_where_it_may_crash_it_is_suspect(monkeypatch):
    monkeypatch.setattr(lanes, "explaining", lambda *_: iter(["known"]))
    runtime = Asked(RIGHT)
    run(runtime, trial())
    assert runtime.log == ["load m 1", "execute", "stop"]


def test_after_a_crash_it_is_loaded_again():
    runtime = Asked(CrashedError("crashed"), RIGHT)
    found = run(runtime, trial(), trial())
    assert runtime.log == ["load m 1", "execute", "load m 1", "execute", "free"]
    assert [one.status for one in found.comparisons] == [Status.FAILED, Status.PASSED]
    assert found.comparisons[0].seconds is None


def test_what_hangs_is_not_executed_again():
    runtime = Asked(HungError("takes longer than 1 s"))
    found = run(runtime, trial(name="slow"), trial(), trial())
    assert runtime.log == ["load m 1", "execute"]
    assert [one.status for one in found.comparisons] == [Status.FAILED] * 3
    assert found.comparisons[1].detail.startswith("is not executed: in case 'slow' it ")


def test_a_model_that_is_refused_is_not_loaded_again():
    runtime = Asked(loads=[RefusedError("unsupported")])
    found = run(runtime, trial(), trial())
    assert runtime.log == ["load m 1"]
    assert [one.detail for one in found.comparisons] == ["unsupported"] * 2


def test_a_crash_when_it_is_freed_is_told():
    runtime = Asked(RIGHT)
    runtime.close = lambda: (_ for _ in ()).throw(CrashedError("crashes at the end"))
    found = run(runtime, trial(threads=2))
    ((threads, comparison),) = found.crashes
    assert (threads, comparison.status, comparison.detail) == (2, Status.FAILED, "crashes at the end")


def view_of(name):
    return next(family_layers(isolate(next(family_layers(read_ir(VALID / f"{name}.xml"))))))


def test_sizes_are_cut_to_halves_and_then_values_are_plain():
    data, indices, axis = np.arange(20.0).reshape(4, 5) + 1, np.array([[1, 2, 3, 4, 5]] * 2), np.array(1)
    found = list(reduce._smaller(view_of("gather_8"), [data, indices, axis]))
    expected = [
        [data[:, :2], indices[:, :2], axis],
        [data[:, 2:], indices[:, 2:], axis],
        [data[:2], indices, axis],
        [data[2:], indices, axis],
        [data, indices[:1], axis],
        [data, indices[1:], axis],
        [data * 0, indices, axis],
        [data, indices * 0, axis],
    ]
    assert len(found) == len(expected)
    for ours, right in zip(found, expected, strict=True):
        for one, other in zip(ours, right, strict=True):
            np.testing.assert_array_equal(one, other)


def test_what_cannot_be_smaller():
    """One element has no half, zeros are plain, and so are strings."""
    axis = np.array([7, 8])  # never cut
    assert list(reduce._smaller(view_of("gather_8"), [np.zeros((1, 1)), np.array([0]), axis])) == []
    assert list(reduce._smaller(view_of("gather_8"), [np.array(["a"], object), np.array(0), axis])) == []


class Shown:
    """A failure that any case shows that `holds`."""

    def __init__(self, holds):
        self.view, self.asked, self._holds = view_of("gather_8"), 0, holds

    def is_shown_by(self, arrays):
        self.asked += 1
        return self._holds(arrays)


def test_the_smallest_case_that_shows_the_failure():
    failure = Shown(lambda arrays: 13.0 in arrays[0] and 3 in arrays[1])
    data, indices, axis = reduce._shrunk(failure, [np.arange(64.0), np.arange(12), np.array(0)])
    assert (data.tolist(), indices.tolist(), axis.tolist()) == ([13.0], [3], 0)


@pytest.mark.parametrize(("holds", "asked"), [(lambda arrays: False, 4), (lambda arrays: True, ATTEMPTS)])
def test_attempts_end(holds, asked):
    failure = Shown(holds)
    sizes = (2,) if asked == 4 else (2**20, 3**5, 5**7, 7)
    arrays = [np.broadcast_to(np.float32(1), sizes), np.array(0 if asked > 4 else 1), np.array(0)]
    reduce._shrunk(failure, arrays)
    assert failure.asked <= asked
    assert failure.asked == asked or holds(arrays)


@pytest.mark.parametrize("hangs", [True, False])
def test_what_hangs_is_not_tried_smaller(monkeypatch, tmp_path, hangs):
    """A smaller case may hang for as long; the words of a failure say nothing of that."""
    tried = []
    monkeypatch.setattr(reduce, "borrowed", lambda names, device, extensions: nullcontext(names))
    monkeypatch.setattr(reduce, "_shrunk", lambda failure, arrays: tried.append(failure) or arrays)
    monkeypatch.setattr(reduce, "_passes", lambda *_: False)
    failed = Comparison("openvino", Status.FAILED, "hangs: so OpenVINO calls it", hangs=hangs)
    inputs = (np.arange(20.0, dtype=np.float32).reshape(4, 5), np.array([1], np.int32))
    result = CaseResult("random", (), 0, (failed,))
    assert not Reducer(tmp_path)(view_of("gather_8"), Case("random", inputs, 0), result, None).passes_again
    assert bool(tried) != hangs


def test_folders_have_names_of_their_own(tmp_path):
    folders = [new_folder(tmp_path / "below" / "failed", "take-above, 2 threads-openvino") for _ in range(3)]
    assert all(folder.is_dir() for folder in folders)
    first = folders[0].name
    assert first == "take-above-2-threads-openvino"
    assert [folder.name for folder in folders] == [first, f"{first}-1", f"{first}-2"]
    long = new_folder(tmp_path, "x" * 200)
    assert len(long.name) == 80


def test_given_inputs_run_on_one_thread_and_on_two():
    array = np.arange(3)
    assert [(case.threads, case.inputs[0] is array) for case in as_cases([array])] == [(1, True), (2, True)]
    assert all(one.name == other.name for one, other in pairwise(as_cases([array])))
    assert not any(case.out_of_bounds for case in as_cases([array]))

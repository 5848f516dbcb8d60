"""What a check asks of a runtime, case by case: when a model is loaded, freed, and loaded into a new process."""

from types import SimpleNamespace

import numpy as np
import pytest

from ov_gather.crosscheck import runtime_queue as lanes
from ov_gather.crosscheck.cases.designed import Case
from ov_gather.crosscheck.results import Comparison, Status
from ov_gather.crosscheck.runtime_queue import PreparedCase, RuntimeQueue
from ov_gather.runtimes.base import CrashedError, HungError, RefusedError

VIEW = SimpleNamespace(operation=SimpleNamespace(name="Gather-8"), layer=SimpleNamespace(name="g"))
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

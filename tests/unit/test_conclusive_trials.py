"""Of several choices of inputs, which one is told."""

import pytest

from ov_gather.crosscheck.models.trials import Attempt, ConversionTrial


def attempt(name, problem="", is_conclusive=True):
    return Attempt({name: None}, (), (), problem, is_conclusive)


class Tried(ConversionTrial):
    """A trial whose attempts are given, and that counts them."""

    def __init__(self, *attempts):
        self.count, self._given = 0, attempts

    def _accepted(self, choices):
        return ((one.inputs, None) for one in self._given)

    def _attempt(self, inputs, expected):
        self.count += 1
        return self._given[self.count - 1]


@pytest.fixture(autouse=True)
def shapes(monkeypatch):
    monkeypatch.setattr("ov_gather.crosscheck.models.trials._shapes", lambda inputs: ", ".join(inputs))


def test_the_first_that_is_conclusive_ends_it():
    trial = Tried(attempt("a", "no", False), attempt("b", "", False), attempt("c"), attempt("d"))
    found = trial.run([])
    assert ([*found.inputs], trial.count) == (["c"], 3)
    assert found.notes == ("for inputs of a: no",)


def test_else_the_first_that_has_outputs():
    found = Tried(
        attempt("a", "no", False), attempt("b", "", False), attempt("c", "", False), attempt("d", "never", False)
    ).run([])
    assert [*found.inputs] == ["b"]
    assert found.notes == ("for inputs of a: no", "for inputs of d: never")


def test_else_the_first():
    found = Tried(attempt("a", "no", False), attempt("b", "never", False)).run([])
    assert ([*found.inputs], found.problem) == (["a"], "no")
    assert found.notes == ("for inputs of b: never",)


def test_a_problem_may_be_conclusive():
    found = Tried(attempt("a", "", False), attempt("b", "it crashes", True)).run([])
    assert ([*found.inputs], found.problem, found.notes) == (["b"], "it crashes", ())


def test_nothing_is_accepted():
    assert Tried().run([]) is None

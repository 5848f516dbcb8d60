"""Which sizes are tried where a model leaves dimensions open, and which of several choices of inputs is told."""

import onnx_ir
import pytest

from helpers.saved_models import parsed
from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION as N
from ov_gather.crosscheck.inputs.onnx import choices
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


def tried(inputs):
    model = onnx_ir.from_proto(parsed(f"({inputs}) => (float[1] y) {{ y = Neg(x) }}"))
    return [tuple(one.shapes.values()) for one in choices(model.graph.inputs)]


PICTURES = [
    *((N, 3, 64, 64), (1, 3, 224, 224), (N, N, N, N), (2, 3, 320, 320), (1, 1, 32, 32), (1, 3, 640, 640), (2, 3, 48, 48)),
    *((1, 1, 28, 28), (1, 3, 1, 1), (32, 32, 32, 32), (1, 1, 1, 1)),
]


def test_pictures():
    assert tried("float[b, c, h, w] x") == [(one,) for one in PICTURES]
    last = [(batch, side, side, 3) for batch, _, side, _ in PICTURES]
    assert tried("float[b, h, w, 3] x") == [(one,) for one in dict.fromkeys(last)]
    first = [(batch, 3, side, side) for batch, _, side, _ in PICTURES]
    assert tried("float[b, 3, h, w] x") == [(one,) for one in dict.fromkeys(first)]


@pytest.mark.parametrize(
    ("inputs", "first", "second"),
    [
        ("int64[n] x", (N,), (128,)),
        ("float[n] x", (N,), (128,)),
        ("int64[b, s] x", (N, N), (1, N)),
        ("int64[b, h, s, d] x", (N, N, N, N), (1, N, N, N)),  # integers are no picture
        ("float[b, h, d] x", (N, N, N), (1, N, N)),
        ("float[5, n] x", (5, N), (5, 128)),
        ("float[5] x", (5,), None),
    ],
)
def test_parts_of_other_inputs(inputs, first, second):
    found = [shape for (shape,) in tried(inputs)]
    assert [*found, None][:2] == [first, second]
    assert len(set(found)) == len(found)


def test_one_name_has_one_size():
    found = tried("int64[n] x, float[b, n] z")
    assert all(one == (other,) or one[0] == other[1] for one, other in found)
    assert len({other[0] for _, other in found}) > 2

"""What a model of ONNX or OpenVINO leaves open: the picks of TopK, and values that depend on random nodes."""

from types import SimpleNamespace

import numpy as np
import onnx.parser
import onnx_ir
import pytest

from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.nondeterminism import Picks, dependents, ir_picks, onnx_picks, random_nodes

SCORES = np.float32([[5, 1, 4, 4, 3]])
EXPECTED = (np.float32([[5, 4, 4]]), np.int64([[0, 2, 3]]))
ORDER = Picks(1, any_order=True, any_of_equal=False)
EQUAL = Picks(-1, any_order=False, any_of_equal=True)
BOTH = Picks(1, any_order=True, any_of_equal=True)


def found(*places):
    places = np.int32([places])
    return np.take_along_axis(SCORES, places.astype(np.int64) % 5, 1), places


@pytest.mark.parametrize(
    ("places", "allowed_by"),
    [
        ((0, 2, 3), (ORDER, EQUAL, BOTH)),
        ((0, 3, 2), (ORDER, EQUAL, BOTH)),
        ((3, 0, 2), (ORDER, BOTH)),
        ((0, 2, 4), ()),
        ((0, 2, 2), ()),
        ((0, 2, 8), ()),
        ((0, 2, -2), ()),
    ],
)
def test_places(places, allowed_by):
    for picks in (ORDER, EQUAL, BOTH):
        assert picks.allow(SCORES, EXPECTED, found(*places)) == (picks in allowed_by)
        assert picks.allow(SCORES, EXPECTED, (None, found(*places)[1])) == (picks in allowed_by)


def test_one_of_two_equal_numbers():
    """ONNX says which one is picked, an OpenVINO TopK that is not stable does not."""
    expected = (np.float32([[5, 4]]), np.int64([[0, 2]]))
    assert [picks.allow(SCORES, expected, found(0, 3)) for picks in (ORDER, EQUAL, BOTH)] == [False, True, True]


def test_numbers_that_are_not_at_the_places():
    assert not BOTH.allow(SCORES, EXPECTED, (np.float32([[4, 5, 4]]), np.int64([[0, 2, 3]])))
    assert not BOTH.allow(SCORES, EXPECTED, (np.float32([[4, 5, 4]]), None))
    assert not BOTH.allow(SCORES, EXPECTED, (None, np.int64([[0, 2]])))


def test_only_the_results_of_topk_are_sorted_for_a_comparison():
    nodes = [onnx_ir.node(operator, [], {"sorted": 0}) for operator in ("TopK", "Unique")]
    model = onnx_ir.Model(onnx_ir.Graph([], [], nodes=nodes), ir_version=9)
    with intermediates._sorted(model):
        assert ["sorted" in node.attributes for node in nodes] == [False, True]
    assert [node.attributes["sorted"].as_int() for node in nodes] == [0, 0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"sort": "none", "stable": "false"}, BOTH),
        ({"sort": "none", "stable": "true"}, ORDER),
        ({"sort": "value", "stable": "false"}, Picks(1, any_order=False, any_of_equal=True)),
        ({"sort": "value"}, Picks(1, any_order=False, any_of_equal=True)),
        ({"sort": "value", "stable": "true"}, None),
        ({"sort": "index"}, None),
    ],
)
def test_what_an_ir_leaves_open(given, expected):
    assert ir_picks(SimpleNamespace(type="TopK", attributes={"axis": "1", **given})) == expected
    assert ir_picks(SimpleNamespace(type="Gather", attributes=given)) is None


def test_what_onnx_leaves_open():
    def node(operator, **given):
        return onnx_ir.node(operator, [onnx_ir.val("x"), onnx_ir.val("k")], given, num_outputs=2)

    assert onnx_picks(node("TopK", sorted=0, axis=1)) == ORDER
    assert onnx_picks(node("TopK", sorted=0)) == Picks(-1, any_order=True, any_of_equal=False)
    assert onnx_picks(node("TopK", sorted=1)) is None
    assert onnx_picks(node("TopK")) is None
    assert onnx_picks(node("Unique", sorted=0)) is None


HEAD = '<ir_version: 9, opset_import: ["": 18, "other": 1]>'


def model_of(text):
    return onnx_ir.from_proto(onnx.parser.parse_model(HEAD + text))


def random_in(text):
    return [node.op_type for node in random_nodes(model_of(text))]


@pytest.mark.parametrize(
    ("call", "is_random"),
    [
        ("Dropout(x)", False),
        ("Dropout(x, r)", False),
        ("Dropout(x, r, )", False),
        ("Dropout(x, r, on)", True),
        ("Dropout(x, r, off)", False),
        ("Dropout(x, r, given)", True),  # may be either
        ("Bernoulli(x)", True),
        ("Multinomial(x)", True),
        ("RandomNormal <shape = [2]> ()", True),
        ("RandomUniformLike(x)", True),
        ("other.RandomNormal(x)", False),
        ("other.Dropout(x, r, on)", False),
        ("Relu(x)", False),
    ],
)
def test_random_operators(call, is_random):
    text = f"g (float[2] x, bool given) => (float[2] y) <float r = {{0.5}}, bool on = {{1}}, bool off = {{0}}> {{ y = {call} }}"
    assert bool(random_in(text)) == is_random


def test_only_what_comes_after_depends():
    model = model_of(
        """g (float[2] x, bool c) => (float[2] z) {
            a = Relu(x) r = Bernoulli(a) b = Add(r, a) d = Neg(x) s = Bernoulli(b)
            z = If (c) <then_branch = t () => (float[2] i) { i = Neg(s) },
                        else_branch = e () => (float[2] j) { j = Neg(d) }> }"""
    )
    first, second = random_nodes(model)
    found = dependents(model, random_nodes(model))
    assert {name: node for name, node in found.items() if node is first}.keys() == {"r", "b", "s", "i", "z"}
    assert set(found) == {"r", "b", "s", "i", "z"}
    assert set(dependents(model, [second])) == {"s", "i", "z"}
    assert dependents(model, []) == {}

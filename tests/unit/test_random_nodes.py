"""Which values of an ONNX model depend on a node, and which nodes are random."""

import onnx.parser
import onnx_ir
import pytest

from ov_gather.crosscheck.models.nondeterminism import dependents, random_nodes

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

"""A symbol is known by what it is: no name of an input, a tensor or a dimension makes two of them one."""

import pickle
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.legalized import model
from ov_gather import prove, read_ir
from ov_gather.converters import prove_onnx
from ov_gather.graph.symbols import InferredDim, InnerDim, InputDim, NamedDim, Symbol, shown_name
from ov_gather.ranges.algebra.polynomials import Polynomial, Quotient
from ov_gather.ranges.algebra.symbols import Copied, Elements, Excess, Extreme, Slack
from ov_gather.ranges.proof import Proof

X = InputDim("x", 0)
SIZE = Polynomial.symbol(X)
SYMBOLS = {
    X: "dim(x, 0)",
    InputDim("x, 0", 1): "dim('x, 0', 1)",
    NamedDim("x"): "dim(x)",
    NamedDim("x, 0"): "dim('x, 0')",
    InferredDim("x", 1): "dim(x)",
    InnerDim("x", 0, 3): "dim(x, 0)",
    Elements("x"): "x",
    Elements("dim(x, 0)"): "'dim(x, 0)'",
    Extreme(Elements("x"), True): "greatest(x)",
    Slack(X): "slack(dim(x, 0))",
    Excess((SIZE + 1).terms): "beyond 1(dim(x, 0) + 1)",
    Copied(SIZE.terms, (SIZE * 2).terms): "copied(2 * dim(x, 0) instead of dim(x, 0))",
    Quotient((SIZE + 1).terms, 2): "((dim(x, 0) + 1) // 2)",
}


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_the_same_symbol(copied: Callable[[Symbol], Symbol]):
    for symbol in SYMBOLS:
        other = copied(symbol)
        assert type(other) is type(symbol) and other == symbol and hash(other) == hash(symbol)


def test_symbols_of_other_kinds_differ_although_they_are_shown_alike():
    assert len(SYMBOLS) == 13
    assert {symbol: str(symbol) for symbol in SYMBOLS} == SYMBOLS
    assert {*sorted(SYMBOLS)} == SYMBOLS.keys()
    assert Polynomial.symbol(X) - Polynomial.symbol(InnerDim("x", 0, 3)) != Polynomial(())


@pytest.mark.parametrize("name", ["x", "x:0", "input.1", "/a/b", "größe", "a-b", "onnx::Gather_0"])
def test_usual_names_are_shown_as_they_are(name: str):
    assert shown_name(name) == name


@pytest.mark.parametrize("name", ["dim(x, 0)", "x[0]", "a b", "'x'", "", "x,y", "x\n"])
def test_names_that_would_be_misread_are_quoted(name: str):
    assert shown_name(name) == repr(name)


def test_a_dimension_of_onnx_that_is_named_like_an_axis():
    """The best of the columns of s is a row of x only if x has as many rows."""
    text = "float[N,4] x, float[2,M] s) => (float[2,4] y)"
    made = model(text, "i = ArgMax<axis = 1, keepdims = 0>(s) y = Gather(x, i)")
    made.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_param")
    made.graph.input[1].type.tensor_type.shape.dim[1].dim_param = "x, 0"
    (proof,) = prove_onnx(made)
    assert (proof.status, proof.requires) == ("conditional", {"dim(x, 0)": ("dim('x, 0')", None)})
    assumed = prove_onnx(made, assume={"dim('x, 0')": (1, 5), "dim(x, 0)": (5, 9)})
    assert [one.status for one in assumed] == ["proved"]


def _up_to(size: ov.Node) -> ov.Node:
    return ops.range(ops.constant(np.int64(0)), size, ops.constant(np.int64(1)), "i64")


def _of_non_zero(name: str) -> ov.Model:
    """Take as many columns of an input as a mask has elements that are not 0."""
    data, mask = ops.parameter([2, -1], np.float32, name=name), ops.parameter([-1], np.int32, name="mask")
    places = ops.non_zero(mask, "i64")
    places.set_friendly_name("NZ")
    count = ops.gather(ops.shape_of(places, "i64"), ops.constant(np.int64(1)), ops.constant(0))
    return ov.Model([ops.gather(data, _up_to(count), ops.constant(1), name="site")], [data, mask])


def _of_site(proofs: list[Proof]) -> Proof:
    return next(proof for proof in proofs if proof.layer == "site")


def test_an_input_that_is_named_like_an_inner_tensor(tmp_path: Path):
    path = tmp_path / "model.xml"
    ov.serialize(_of_non_zero("x"), path)
    layer = next(one for one in read_ir(path).layers if one.name == "NZ")
    for name in (f"NZ#0.{layer.id}.{layer.outputs[0].id}", "NZ"):
        ov.serialize(_of_non_zero(name), path)
        assert _of_site(prove(path)).status != "proved"
    inner = next(node for node in _of_non_zero("x").get_ops() if node.get_friendly_name() == "NZ")
    for name in (f"NZ#{inner.get_name()}.0", "NZ"):
        assert _of_site(prove(_of_non_zero(name))).status != "proved"


def test_inputs_of_one_name_have_sizes_of_their_own():
    """Positions in one are none in the other, which has the same name."""
    one, other = (ops.parameter([-1], np.float32, name="x") for _ in range(2))
    count = ops.reduce_prod(ops.shape_of(one, "i64"), ops.constant(0))
    proofs = prove(ov.Model([ops.gather(other, _up_to(count), ops.constant(0), name="site")], [one, other]))
    assert _of_site(proofs).status != "proved"


def test_sizes_that_reshapes_copy_from_tensors_of_open_rank():
    """Reshape copies a size of `a`, or one of `b`, if it is asked for 0: positions in one are then none in the other."""
    x, a, b = (
        ops.parameter(ov.PartialShape(shape), np.float32, name=name)
        for name, shape in (("x", [-1]), ("a", "..."), ("b", "..."))
    )
    data, other = (ops.reshape(one, ops.shape_of(x, "i64"), True) for one in (a, b))
    count = ops.reduce_prod(ops.shape_of(other, "i64"), ops.constant(0))
    proof = _of_site(prove(ov.Model([ops.gather(data, _up_to(count), ops.constant(0), name="site")], [x, a, b])))
    assert (proof.status, proof.requires) == ("conditional", {"dim(x, 0)": (1, None)})

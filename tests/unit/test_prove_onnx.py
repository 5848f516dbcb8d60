"""`prove_onnx` on little models: what is proved, and under which condition."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from helpers.legalized import constant, model
from ov_gather.converters import prove_onnx

TABLE = np.zeros((1000, 4), np.float32)


def embedding():
    return constant(TABLE, model("int64[A,B] ids) => (float[A,B,4] y)", "y = Gather(t, ids)"), "t")


CASES = {
    "an embedding": (embedding(), "conditional", {"ids": (-1000, 999)}),
    "an open axis": (
        model("float[N,4] x, int64[K] i) => (float[K,4] y)", "y = Gather(x, i)"),
        "conditional",
        {"i": ("-dim(N)", "dim(N) - 1")},
    ),
    "the fifth row": (
        model("float[N,4] x) => (float[1,4] y)", "i = Constant<value_ints = [4]>() y = Gather(x, i)"),
        "conditional",
        {"dim(N)": (5, None)},
    ),
    "sizes of the same name": (
        model("float[N,4] x, float[B,N] s) => (float[B,4] y)", "i = ArgMax<axis = 1, keepdims = 0>(s) y = Gather(x, i)"),
        "proved",
        {},
    ),
    "a size that no input has": (
        model("float[4] x) => (int64[1] y)", "n = NonZero(x) i = Constant<value_int = 0>() y = Gather<axis = 1>(n, i)"),
        "unknown",
        {},
    ),
    "past the end": (
        model("float[3,4] x) => (float[1,4] y)", "i = Constant<value_ints = [3]>() y = Gather(x, i)"),
        "refuted",
        {},
    ),
    "in a branch": (
        model(
            "bool c, float[3,4] x, int64[2] i) => (float[2,4] y)",
            """y = If (c) <then_branch = yes () => (float[2,4] a) { a = Gather(x, i) },
                           else_branch = no () => (float[2,4] b) { zeros = Sub(i, i) b = Gather(x, zeros) }>""",
        ),
        "conditional",
        {"i": (-3, 2)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_known_of_the_first_site(name):
    proto, status, requires = CASES[name]
    proof = prove_onnx(proto)[0]
    assert (proof.status, dict(proof.requires)) == (status, requires), proof


def test_a_node_without_a_name_is_called_by_its_output():
    proto = CASES["in a branch"][0]
    assert [proof.layer for proof in prove_onnx(proto)] == ["a", "b"]
    proto.graph.node[0].attribute[0].g.node[0].name = "first"
    assert [proof.layer for proof in prove_onnx(proto)] == ["first", "b"]


def test_a_file_and_what_is_assumed_of_it(tmp_path):
    onnx.save(embedding(), tmp_path / "m.onnx")
    (proof,) = prove_onnx(tmp_path / "m.onnx", assume={"ids": (0, 999)})
    assert proof.status == "proved"
    with pytest.raises(ValueError, match="assume idss: the model has no such input"):
        prove_onnx(tmp_path / "m.onnx", assume={"idss": (0, 999)})


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_indices_that_come_from_what_is_padded_by_an_infinite_number(infinite):
    """Masks and windows of maxima are padded like that."""
    nodes = "p = Pad(x, ends, filler) k = Cast<to = 7>(p) y = Gather(t, k)"
    proto = constant(TABLE, model("float[N] x) => (float[K,4] y)", nodes), "t")
    proto = constant(np.float32(infinite), constant(np.array([1, 1]), proto, "ends"), "filler")
    assert [proof.status for proof in prove_onnx(proto)] == ["unknown"]


@pytest.mark.parametrize(("depth", "is_propagated"), [(3, True), (40, False)])
def test_no_more_elements_are_propagated_than_a_bound(monkeypatch, depth: int, is_propagated: bool) -> None:
    nodes = "".join(f"a{k + 1} = Concat<axis = 0>(a{k}, a{k})\n" for k in range(depth))
    doubled = model("float[2] x, int64 i) => (float y)", f"a0 = Identity(x)\n{nodes}y = Gather(a{depth}, i)")
    infer = onnx.shape_inference.infer_shapes

    modes = set()

    def checked(*given: object, data_prop: bool, **options: object) -> onnx.ModelProto:
        modes.add(data_prop)
        assert is_propagated or not data_prop
        return infer(*given, data_prop=data_prop, **options)

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", checked)
    (proof,) = prove_onnx(doubled, assume={"i": (0, 1)})
    assert proof.status == "proved"
    assert proof.axis_size == 2 ** (depth + 1)
    assert modes == ({False, True} if is_propagated else {False})

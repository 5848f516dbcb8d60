"""`prove_onnx` on little models; the work of `prove` grows no faster than a model, counted by what is learned of tensors."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from types import FrameType
from typing import Any

import numpy as np
import onnx
import openvino as ov
import openvino.opset13 as ops
import pytest

from helpers.legalized import constant, model
from ov_gather import prove
from ov_gather.converters import prove_onnx
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.sites import Site
from ov_gather.ranges.solver import Solver

IDS, PAIRS = ov.PartialShape([-1, 3]), ov.PartialShape([2, 3])


def given(name: str, shape: ov.PartialShape = IDS) -> ov.Node:
    return ops.parameter(shape, np.int64, name=name)


def table(size: int = 10) -> ov.Node:
    return ops.constant(np.zeros((size, 4), np.float32))


def taken(number: int, data: ov.Node, index: ov.Node) -> ov.Node:
    return ops.gather(data, index, ops.constant(0), name=f"site_{number}")


def look_ups(count: int, *, of: np.ndarray | None = None) -> ov.Model:
    """Indices that are computed of an input or a constant, and looked up in a table."""
    ids, rows = given("ids"), table()
    first = ids if of is None else ops.constant(of)
    indices = [ops.add(first, ops.constant(np.int64(1 - 2 * (i % 2)))) for i in range(count)]
    return ov.Model([taken(i, rows, index) for i, index in enumerate(indices)], [ids])


def own_inputs(count: int) -> ov.Model:
    """Each site looks up one more than an input of its own, of open size, says."""
    inputs, rows = [given(f"ids_{i}") for i in range(count)], table()
    return ov.Model([taken(i, rows, ops.add(ids, ops.constant(np.int64(1)))) for i, ids in enumerate(inputs)], inputs)


def own_tables(count: int) -> ov.Model:
    """One input is looked up in tables of different sizes."""
    ids = given("ids", PAIRS)
    return ov.Model([taken(i, table(3 + i), ids) for i in range(count)], [ids])


def chain(count: int, *, own: bool = False) -> ov.Model:
    """What one site reads, in an input of all or of its own, is what the next one reads by."""
    index = ids = given("ids", PAIRS)
    sizes = [10 + i for i in range(count)] if own else [10]
    data = [given(f"data_{i}" if own else "data", ov.PartialShape([size])) for i, size in enumerate(sizes)]
    for i in range(count):
        index = taken(i, data[i if own else 0], index)
    return ov.Model([index], [ids, *data])


def moved_on(count: int) -> ov.Model:
    """Each site reads rows of the one before, by indices that arithmetic moves on each time."""
    indices, rows = ids, data = given("ids", ov.PartialShape([8])), given("data", ov.PartialShape([1000, 3]))
    for i in range(count):
        for turn in range(8):
            indices = ops.add(indices, ops.constant(np.int64(1 - 2 * (turn % 2))))
        rows = ops.concat([taken(i, rows, indices), data], 0)
    return ov.Model([rows], [ids, data])


def joined_rows(count: int) -> ov.Model:
    """Each site reads the rows of all inputs of open size so far."""
    data, ids = [given(f"data_{i}") for i in range(count)], given("ids", ov.PartialShape([8]))
    joined = list(accumulate(data, lambda rows, more: ops.concat([rows, more], 0)))
    return ov.Model([taken(i, rows, ids) for i, rows in enumerate(joined[::4])], [ids, *data])


SHAPES: dict[str, Callable[[int], ov.Model]] = {
    "own_inputs": own_inputs,
    "own_tables": own_tables,
    "chain": chain,
    "chain_of_inputs": partial(chain, own=True),
}


def work_on(monkeypatch: pytest.MonkeyPatch, model: ov.Model) -> tuple[int, list[Proof]]:
    """How often something is learned of a tensor while a model is proved, and the proofs."""
    work, set_bounds = 0, Solver._learn

    def counted(*arguments) -> None:
        nonlocal work
        work += 1
        set_bounds(*arguments)

    monkeypatch.setattr(Solver, "_learn", counted)
    proofs = prove(model)
    monkeypatch.setattr(Solver, "_learn", set_bounds)
    return work, proofs


def test_twice_the_model_is_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more, most = (work_on(monkeypatch, look_ups(count))[0] for count in (60, 120, 240))
    assert most - more <= 2.2 * (more - few)


def test_sites_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites that are known at once are left out of the search for conditions."""
    compared, equal = 0, Site.__eq__

    def counted(one: Site, other: object) -> bool:
        nonlocal compared
        compared += 1
        return equal(one, other)

    monkeypatch.setattr(Site, "__eq__", counted)
    proofs = prove(look_ups(200, of=np.zeros((1, 3), np.int64)))
    assert {proof.status for proof in proofs} == {"proved"}
    assert compared <= len(proofs)


def test_conditions_are_not_searched_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each site of a chain needs a condition of its own, and depends on all of the chain before it."""
    whole, proofs = work_on(monkeypatch, SHAPES["chain_of_inputs"](16))
    assert {proof.status for proof in proofs} == {"conditional"}
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH", 0)
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH_OF_EACH", 10)
    work, proofs = work_on(monkeypatch, SHAPES["chain_of_inputs"](16))
    assert work < whole / 2, (work, whole)
    assert {proof.status for proof in proofs} == {"conditional", "unknown"}


def calls_of(model: ov.Model) -> tuple[int, list[Proof]]:
    """How many functions of Python are called while a model is proved, and the proofs."""
    calls = 0

    def counted(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        proofs = prove(model)
    finally:
        sys.setprofile(before)
    return calls, proofs


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_sites_are_twice_the_calls(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    """The search ends early here, as it does in models of many thousands of sites."""
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH", 0)
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH_OF_EACH", 30)
    few, more, most = (calls_of(SHAPES[shape](count))[0] for count in (20, 40, 80))
    assert most - more <= 2.5 * (more - few)


def test_no_site_walks_over_what_is_analysed_already() -> None:
    few, more, most = (calls_of(moved_on(count))[0] for count in (20, 40, 80))
    assert most - more <= 2.1 * (more - few)


def test_sizes_that_share_limits_are_visited_once() -> None:
    few, more = (calls_of(joined_rows(count))[0] for count in (16, 24))
    assert more <= 5 * few  # 5.8 times if each limit is visited for each of its names


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", SHAPES)
def test_each_site_has_its_condition(shape: str) -> None:
    proofs = prove(SHAPES[shape](12))
    assert {proof.status for proof in proofs} == {"conditional"}
    for proof in proofs:
        i = int(proof.layer.removeprefix("site_"))
        expected = {
            "own_inputs": {f"ids_{i}": (-11, 8)},
            "own_tables": {"ids": (-3 - i, 2 + i)},
            "chain": {"data": (-10, 9), "ids": (-10, 9)} if i else {"ids": (-10, 9)},
            "chain_of_inputs": {"ids": (-10, 9)} | {f"data_{j}": (-11 - j, 10 + j) for j in range(i)},
        }[shape]
        assert proof.requires == expected


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


@pytest.mark.parametrize("of", ["x", "w"])
def test_a_size_that_shape_inference_names_is_the_one_that_it_is_computed_from(of: str):
    """The rows of h are those of x if z has as many. Gemm has no rule: only the name made up for the rows of z tells."""
    nodes = f"""zero = Constant<value_ints = [0]>() four = Constant<value_ints = [4]>() size = Shape({of})
        rows = Gather(size, zero) full = Concat<axis = 0>(rows, four) z = ConstantOfShape(full)
        g = Gemm(z, t) h = Add(x, g) first = Gather(x, i) y = Gather(h, i)"""
    proto = model("float[N,4] x, float[M] w, int64[K] i) => (float[K,4] first, float[K,4] y)", nodes)
    proofs = {proof.layer: proof for proof in prove_onnx(constant(np.eye(4, dtype=np.float32), proto, "t"))}
    rows = {"i": ("-dim(N)", "dim(N) - 1")}
    assert (proofs["first"].status, proofs["first"].requires) == ("conditional", rows)
    assert (proofs["y"].requires == rows) is (of == "x")

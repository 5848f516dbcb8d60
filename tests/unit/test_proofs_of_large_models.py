"""The work of `prove` grows no faster than a model: what is counted is how often something is learned of a tensor."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest

from ov_gather import prove
from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.element_types import F32, I64, ElementType
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ranges.proofs import Proof
from ov_gather.ranges.sites import Site
from ov_gather.ranges.solver import Solver

IDS, PAIRS, TAKEN = PartialShape.of([-1, 3]), PartialShape.of([2, 3]), PartialShape.of([-1, 3, 4])


class LookUps:
    """A model of sites, whose tensors are of i64 by indices [2, 3], or rows of tables."""

    def __init__(self, ids: PartialShape | None = None) -> None:
        self.builder = ModelBuilder("look_ups")
        self.index = self.builder.parameter("ids", I64, ids) if ids else None
        self.zero = self.builder.const("zero", I64, np.array(0))

    def table(self, name: str, size: int) -> PortRef:
        return self.builder.const(name, F32, np.zeros((size, 4), np.float32))

    def added(self, name: str, one: PortRef, number: int, shape: PartialShape) -> PortRef:
        number_ = self.builder.const(f"number_{name}", I64, np.array(number))
        return self.builder.layer("Add", name, "opset1", {}, [one, number_], [(I64, shape)])[0]

    def gather(self, name: str, data: PortRef, index: PortRef, output: tuple[ElementType, PartialShape]) -> PortRef:
        return self.builder.layer("Gather", name, "opset8", {"batch_dims": "0"}, [data, index, self.zero], [output])[0]


def look_ups(count: int, *, of: np.ndarray | None = None) -> Model:
    """Indices that are computed of an input or a constant, and looked up in a table."""
    model = LookUps(IDS)
    first = model.index if of is None else model.builder.const("constant", I64, of)
    table, index = model.table("table", 10), first
    for i in range(count):
        index = model.added(f"index_{i}", first, 1 - 2 * (i % 2), IDS)
        model.gather(f"rows_{i}", table, index, (F32, TAKEN))
    model.builder.result("last", index)
    return model.builder.build()


def own_inputs(count: int) -> Model:
    """Each site looks up one more than an input of its own, of open size, says."""
    model = LookUps()
    table = model.table("table", 10)
    for i in range(count):
        index = model.added(f"index_{i}", model.builder.parameter(f"ids_{i}", I64, IDS), 1, IDS)
        model.builder.result(f"out_{i}", model.gather(f"rows_{i}", table, index, (F32, TAKEN)))
    return model.builder.build()


def own_tables(count: int) -> Model:
    """One input is looked up in tables of different sizes."""
    model = LookUps(PAIRS)
    for i in range(count):
        rows = model.gather(f"rows_{i}", model.table(f"table_{i}", 3 + i), model.index, (F32, PartialShape.of([2, 3, 4])))
        model.builder.result(f"out_{i}", rows)
    return model.builder.build()


def chain(count: int, *, own: bool = False) -> Model:
    """What one site reads, in an input of all or of its own, is what the next one reads by."""
    model = LookUps(PAIRS)
    index = model.index
    for i in range(count):
        if own or i == 0:
            data = model.builder.parameter(f"data_{i}" if own else "data", I64, PartialShape.of([10 + i]))
        index = model.gather(f"next_{i}", data, index, (I64, PAIRS))
    model.builder.result("last", index)
    return model.builder.build()


SHAPES: dict[str, Callable[[int], Model]] = {
    "own_inputs": own_inputs,
    "own_tables": own_tables,
    "chain": chain,
    "chain_of_inputs": partial(chain, own=True),
}


def work_on(monkeypatch: pytest.MonkeyPatch, model: Model) -> tuple[int, list[Proof]]:
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


def calls_of(model: Model) -> tuple[int, list[Proof]]:
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


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_sites_are_twice_the_calls(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    """The search ends early here, as it does in models of many thousands of sites."""
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH", 0)
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH_OF_EACH", 30)
    few, more, most = (calls_of(SHAPES[shape](count))[0] for count in (20, 40, 80))
    assert most - more <= 2.5 * (more - few)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_site_has_its_condition(shape: str) -> None:
    proofs = prove(SHAPES[shape](12))
    assert {proof.status for proof in proofs} == {"conditional"}
    for i, proof in enumerate(proofs):
        expected = {
            "own_inputs": {f"ids_{i}": (-11, 8)},
            "own_tables": {"ids": (-3 - i, 2 + i)},
            "chain": {"data": (-10, 9), "ids": (-10, 9)} if i else {"ids": (-10, 9)},
            "chain_of_inputs": {"ids": (-10, 9)} | {f"data_{j}": (-11 - j, 10 + j) for j in range(i)},
        }[shape]
        assert proof.requires == expected

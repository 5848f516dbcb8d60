"""The work of `prove` grows no faster than a model: what is counted is how often something is learned of a tensor."""

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

from helpers.large_look_ups import SHAPES
from ov_gather import prove
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ranges.proofs import Proof
from ov_gather.ranges.sites import Site
from ov_gather.ranges.solver import Solver

IDS, TABLE, TAKEN = PartialShape.of([-1, 3]), PartialShape.of([10, 4]), PartialShape.of([-1, 3, 4])


def look_ups(count: int, *, of: np.ndarray | None = None) -> Model:
    """Indices that are computed of an input or a constant, and looked up in a table."""
    builder = ModelBuilder("look_ups")
    ids, zero = builder.parameter("ids", I64, IDS), builder.const("zero", I64, np.array(0))
    ids = ids if of is None else builder.const("constant", I64, of)
    one, table = builder.const("one", I64, np.array(1)), builder.const("table", F32, np.zeros((10, 4), np.float32))
    index = ids
    for i in range(count):
        (index,) = builder.layer("Add" if i % 2 else "Subtract", f"index_{i}", "opset1", {}, [ids, one], [(I64, IDS)])
        builder.layer("Gather", f"rows_{i}", "opset8", {"batch_dims": "0"}, [table, index, zero], [(F32, TAKEN)])
    builder.result("last", index)
    return builder.build()


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

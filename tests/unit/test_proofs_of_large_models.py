"""The work of `prove` grows no faster than a model: what is counted is how often something is learned of a tensor."""

from __future__ import annotations

import numpy as np
import pytest

from ov_gather import prove
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ranges.proofs import Proof
from ov_gather.ranges.sites import Site
from ov_gather.ranges.solver import Solver

IDS, TABLE, TAKEN = PartialShape.of([-1, 3]), PartialShape.of([10, 4]), PartialShape.of([-1, 3, 4])


def look_ups(count: int, *, is_chain: bool, of: np.ndarray | None = None) -> Model:
    """Indices that are computed of an input or a constant, or each of those before it, and looked up in a table."""
    builder = ModelBuilder("look_ups")
    ids, zero = builder.parameter("ids", I64, IDS), builder.const("zero", I64, np.array(0))
    ids = ids if of is None else builder.const("constant", I64, of)
    one, table = builder.const("one", I64, np.array(1)), builder.const("table", F32, np.zeros((10, 4), np.float32))
    index = ids
    for i in range(count):
        operands = [index if is_chain else ids, one]
        (index,) = builder.layer("Add" if i % 2 else "Subtract", f"index_{i}", "opset1", {}, operands, [(I64, IDS)])
        builder.layer("Gather", f"rows_{i}", "opset8", {"batch_dims": "0"}, [table, index, zero], [(F32, TAKEN)])
    builder.result("last", index)
    return builder.build()


def work_on(monkeypatch: pytest.MonkeyPatch, model: Model) -> tuple[int, list[Proof]]:
    """How often something is learned of a tensor while a model is proved, and the proofs."""
    work, learn = 0, Solver._learn

    def counted(*arguments) -> None:
        nonlocal work
        work += 1
        learn(*arguments)

    monkeypatch.setattr(Solver, "_learn", counted)
    proofs = prove(model)
    monkeypatch.setattr(Solver, "_learn", learn)
    return work, proofs


def test_twice_the_model_is_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more, most = (work_on(monkeypatch, look_ups(count, is_chain=False))[0] for count in (60, 120, 240))
    assert most - more <= 2.2 * (more - few)


def test_sites_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites that are known at once are left out of the search for conditions."""
    compared, equal = 0, Site.__eq__

    def counted(one: Site, other: object) -> bool:
        nonlocal compared
        compared += 1
        return equal(one, other)

    monkeypatch.setattr(Site, "__eq__", counted)
    proofs = prove(look_ups(200, is_chain=False, of=np.zeros((1, 3), np.int64)))
    assert {proof.status for proof in proofs} == {"proved"}
    assert compared <= len(proofs)


def test_conditions_are_not_searched_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each site of a chain needs a condition of its own, and depends on all of the chain before it."""
    whole, proofs = work_on(monkeypatch, look_ups(240, is_chain=True))
    assert {proof.status for proof in proofs} == {"conditional"}
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH", 2000)
    monkeypatch.setattr("ov_gather.ranges.runs.ENOUGH_OF_EACH", 1)
    work, proofs = work_on(monkeypatch, look_ups(240, is_chain=True))
    assert work < whole / 2
    assert {proof.status for proof in proofs} == {"conditional", "unknown"}

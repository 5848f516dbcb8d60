"""What the search for conditions costs: its analyses share results, so that many steps are visited and not evaluated."""

import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.openvino_models import counted, made_of, number, size_of
from ov_gather import prove
from ov_gather.graph.protocol import Node
from ov_gather.ranges import solver
from ov_gather.ranges.solver import Solver

LIMIT = 0.65
"""Share of the visited steps: 0.5, and 0.94 if steps are evaluated whenever a bound of a size in them differs."""


def windows(data: ov.Node, mask: ov.Node, other: ov.Node) -> list[ov.Node]:
    """Gathers of data by positions that the sizes of two masks count, layer by layer, as in Longformer."""
    found = []
    for layer in range(8):
        masked = ops.multiply(data, ops.multiply(mask, other))
        flat = ops.reshape(masked, number([-1]), False)
        count = ops.multiply(size_of(mask), size_of(other, 1))
        places = ops.add(ops.multiply(counted(count), number(1)), number(layer))
        found.append(ops.gather(flat, ops.subtract(places, number(layer)), number(0)))
        found.append(ops.gather(masked, counted(ops.subtract(size_of(other, 1), number(layer))), number(1)))
    return found


def test_steps_of_the_search_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[Node] = []
    visited = 0
    original, run = solver.results_of, Solver.run

    def counting(self: Solver, steps: list[Node]) -> Solver:
        nonlocal visited
        before = self.visits
        run(self, steps)
        visited += self.visits - before
        return self

    monkeypatch.setattr(solver, "results_of", lambda graph, step, call: evaluated.append(step) or original(graph, step, call))
    monkeypatch.setattr(Solver, "run", counting)
    proofs = prove(made_of(windows, **dict.fromkeys(("data", "mask", "other"), "f32[?,?]")))
    assert {proof.status for proof in proofs} == {"proved", "conditional"}
    assert visited > 2000
    assert len(evaluated) < LIMIT * visited

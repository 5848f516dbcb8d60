"""What `prove` says of the idioms by which real models compute indices."""

import pytest

from helpers.index_idioms import IDIOMS
from ov_gather import prove
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.openvino_graph import OpenvinoGraph
from ov_gather.ranges.rules.call import CPU_PLUGIN
from ov_gather.ranges.runs import AnalysisCache


def answer(model):
    """The conditions of all sites of a model; it has no other site."""
    proofs = prove(model)
    assert {proof.status for proof in proofs} <= {"proved", "conditional"}, [proof.headline for proof in proofs]
    return {name: bounds for proof in proofs for name, bounds in proof.requires.items()}


def dim(name, axis):
    return Polynomial.name(f"dim({name}, {axis})")


def at_least(name, axis, other):
    """dim(name, axis) >= other, as the analysis takes it."""
    return {f"dim({name}, {axis})": other + Polynomial.name(f"slack({name}, {axis})")}


ROWS = at_least("h", 1, dim("s", 1))
STATED_OTHERWISE = {
    "positions by cumsum": Assumption({"mask": Interval(0, 1)}, {"dim(mask, 1)": (0, 512)}),
    "argmax of eos": Assumption(dims={"dim(s, 1)": (1, 2**23)}, same=ROWS),
    "top-k and batch offset": Assumption(dims={"dim(s, 1)": (3, 2**23)}, same=ROWS),
    "DETR": Assumption(dims={"dim(s, 1)": (2, 2**23)}, same=ROWS),
    "where(mask)": Assumption(same={**ROWS, **at_least("h", 0, dim("s", 0))}),
    "last token": Assumption({"s": Interval(0, 1)}, {"dim(s, 1)": (1, 2**23)}, same=ROWS),
    "KV-cache positions": Assumption(same={"dim(past, 2)": -dim("ids", 1) - Polynomial.name("slack(past)") + 512}),
}
"""The weakest conditions of idioms with open shapes for which a stronger one, or another form, is reported."""


@pytest.mark.parametrize("name", IDIOMS)
def test_static_shapes(name):
    assert answer(IDIOMS[name].model(is_dynamic=False)) == IDIOMS[name].if_static


@pytest.mark.parametrize("name", [name for name in IDIOMS if name not in STATED_OTHERWISE])
def test_open_shapes(name):
    assert answer(IDIOMS[name].model(is_dynamic=True)) == IDIOMS[name].if_dynamic


@pytest.mark.parametrize("name", STATED_OTHERWISE)
def test_the_weakest_condition_suffices(name):
    graph = OpenvinoGraph(IDIOMS[name].model(is_dynamic=True))
    runs = AnalysisCache(graph, CPU_PLUGIN, Assumption(), graph.sites)
    assert all(runs.prove(STATED_OTHERWISE[name], site) for site in graph.sites)
    assert answer(IDIOMS[name].model(is_dynamic=True))

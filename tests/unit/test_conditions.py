"""Conditions that people can meet: each worked out by hand."""

from collections.abc import Callable, Sequence
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset15 as ops

from ov_gather.graph.symbols import InputDim, Symbol
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Limits
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.examples import Premises
from ov_gather.ranges.inequalities import slack_of
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.prove import graph_of, names_of, prove, prove_in
from ov_gather.ranges.weakening import Weakening

X, Y = InputDim("x", 0), InputDim("y", 0)
OF_X, OF_MASK = Elements("x"), Elements("mask")


def given(name: str, shape: list[int], kind: Any = np.int64) -> ov.Node:
    return ops.parameter(ov.PartialShape(shape), kind, name=name)


def number(value: int | list[int]) -> ov.Node:
    return ops.constant(np.array(value, np.int64))


def table(rows: int) -> ov.Node:
    return ops.constant(np.zeros((rows, 2), np.float32))


def proof_of(data: ov.Node, indices: ov.Node, inputs: list[ov.Node]) -> Proof:
    (proof,) = [
        one for one in prove(ov.Model([ops.gather(data, indices, number(0), name="site")], inputs)) if "site" in one.layer
    ]
    return proof


def test_sizes_with_a_common_factor_are_compared():
    """Positions 0 .. 16 * y - 1 of 16 * x elements: they exist if x >= y."""
    x, y = given("x", [-1, 16], np.float32), given("y", [-1, 16], np.float32)
    count = ops.reduce_prod(ops.shape_of(y), number([0]))
    proof = proof_of(ops.reshape(x, number([-1]), False), ops.range(number(0), count, number(1), "i64"), [x, y])
    assert proof.requires == {str(X): (str(Y), None)}


def test_a_mask_is_0_or_1_and_the_length_then_has_its_greatest_value():
    """The running sum of a mask of n elements is at most n, and a table of 130 rows has row 129."""
    mask = given("attention_mask", [-1, -1])
    proof = proof_of(table(130), ops.cum_sum(mask, number(1)), [mask])
    assert proof.requires == {"attention_mask": (0, 1), "dim(attention_mask, 1)": (None, 129)}


def test_ids_of_the_same_computation_are_no_mask():
    """The running sum of 3 ids is in -130..129 if each is in -43..43: 3 * 43 = 129."""
    ids = given("ids", [-1, 3])
    assert proof_of(table(130), ops.cum_sum(ids, number(1)), [ids]).requires == {"ids": (-43, 43)}


def test_what_holds_under_an_assumption_is_not_known_without_it():
    """Of up to 100 rows, all are repeated a million times: then there are no more than 2,147, whose number times 1,000 fits."""
    x = given("x", [-1], np.int8)
    many = ops.tile(ops.slice(x, number([0]), number([100]), number([1]), number([0])), number([1_000_000]))
    size = ops.gather(ops.shape_of(x), number(0), number(0))
    index = ops.minimum(ops.multiply(size, number(1000)), number(5))
    sites = [ops.gather(many, number([0]), number(0)), ops.gather(table(6), index, number(0), name="site")]
    graph = graph_of(ov.Model(sites, [x]))
    first, then = [
        {proof.layer: proof for proof in prove_in(graph, assume=assume)}["site"] for assume in ({str(X): (1, 100)}, {})
    ]
    assert (first.status, then.requires) == ("proved", {str(X): (None, 2_147_483)})


def test_an_example_meets_all_conditions_of_the_model():
    """Rows of x, and of a table of 5: ids and rows are 0, and x has a row."""
    x, ids, rows = given("x", [-1, 4], np.float32), given("ids", [-1]), given("rows", [-1])
    sites = [ops.gather(x, ids, number(0)), ops.gather(table(5), rows, number(0))]
    second, first = sorted(prove(ov.Model(sites, [x, ids, rows])), key=lambda proof: "rows" not in proof.requires)
    assert first.requires == {"ids": (f"-{X}", f"{X} - 1")}
    assert first.example["ids"] == 0 < first.example[str(X)] and second.example == {"rows": 0}


@pytest.mark.parametrize(
    ("condition", "example"),
    [
        (Assumption(dims={X: (513, inf)}), {X: 513}),
        (Assumption(dims={X: (3, 4)}, same={Y: Polynomial.symbol(X) * 2}), {X: 3, Y: 6}),
        (Assumption(same={Y: Polynomial.symbol(X) + 7 + slack_of(Y)}), {X: 2, Y: 9}),
        (Assumption({OF_X: Interval(5, 9)}), {OF_X: 5}),
        (Assumption({OF_X: Interval(-9, -5)}), {OF_X: -5}),
        (Assumption({OF_X: Interval(-inf, inf, (Polynomial.symbol(Y),))}), {OF_X: 2, Y: 2}),
        (Assumption({OF_X: Interval(9, inf, (), (Polynomial.symbol(Y) - 1,))}), {OF_X: 9, Y: 32}),
        (Assumption(limits={Polynomial.symbol(X) * Polynomial.symbol(Y): 3}), {X: 1, Y: 1}),
        (Assumption(dims={X: (5, inf), Y: (5, inf)}, limits={Polynomial.symbol(X) * Polynomial.symbol(Y): 24}), None),
        (Assumption({OF_X: Interval(2**40, 2**41)}), None),
        (Assumption(dims={X: (9, inf)}, same={X: Polynomial.symbol(Y)}), {X: 32, Y: 32}),
    ],
)
def test_examples(condition: Assumption, example: dict[Symbol, int] | None):
    """The first of typical sizes that fit, which begin with 2 along the first axis; values are the nearest to 0."""
    graph = graph_of(_of_two())
    names_of(graph)
    assert Premises(graph, Assumption(), Limits()).example([condition]) == example


def _of_two() -> ov.Model:
    inputs = [given("x", [-1], np.int32), given("y", [-1], np.int32)]
    return ov.Model([ops.abs(one) for one in inputs], inputs)


def test_conditions_that_exclude_each_other_have_no_common_example():
    premises = Premises(graph_of(_of_two()), Assumption(), Limits())
    assert premises.example([Assumption({OF_X: Interval(0, 3)}), Assumption({OF_X: Interval(4, 5)})]) is None


def weakened(condition: Assumption, suffices: Callable[[Assumption], bool], rooms: Sequence[int] = ()) -> Assumption:
    """Weaken a condition of a site that is in bounds where a function says so."""
    known = SimpleNamespace(algebra=SimpleNamespace(sizes=SimpleNamespace(of=lambda _: (0, inf))))
    runs: Any = SimpleNamespace(
        part_of=lambda _: SimpleNamespace(inputs=[OF_X, OF_MASK]),
        is_budget_spent=False,
        prove=lambda tried, _: suffices(tried),
        rooms=lambda *_: rooms,
        unconditional=known,
    )
    site: Any = None
    return Weakening(runs, site, {"mask"}).run(condition)


@pytest.mark.parametrize(
    ("start", "most", "found"), [(8, 513, 513), (8, 8, 8), (8, 65535, 65535), (8, 100_000, 65536), (8, 65536, 65536)]
)
def test_an_upper_bound_is_exact_or_a_power_of_two(start: int, most: int, found: int):
    of_dim = weakened(Assumption(dims={X: (0, start)}), lambda tried: X in tried.dims and tried.dims[X][1] <= most)
    of_input = weakened(
        Assumption({OF_X: Interval(0, start)}), lambda tried: OF_X in tried.inputs and tried.inputs[OF_X].high <= most
    )
    assert (of_dim.dims[X][1], of_input.inputs[OF_X].high) == (found, found)


@pytest.mark.parametrize(("rooms", "tries"), [([92], 3), ([5, 92], 4), ([], 22), ([46], 23), ([184], 23)])
def test_a_bound_is_read_off_the_room_of_the_index(rooms: list[int], tries: int):
    """As far as the index has room; if it moves by another factor, the search goes on as without it."""
    tried: list[Number] = []

    def suffices(condition: Assumption) -> bool:
        if OF_X not in condition.inputs or condition.inputs[OF_X].low < 0:
            return False
        tried.append(condition.inputs[OF_X].high)
        return tried[-1] <= 100

    assert weakened(Assumption({OF_X: Interval(0, 8)}), suffices, rooms).inputs[OF_X].high == 100
    assert len(set(tried)) <= tries


def test_the_bounds_of_a_mask_are_not_moved():
    start = Assumption({OF_MASK: Interval(0, 1), OF_X: Interval(0, 1)})
    found = weakened(start, lambda tried: {OF_MASK, OF_X} <= tried.inputs.keys() and tried.inputs[OF_X].high <= 5)
    assert (found.inputs[OF_MASK], found.inputs[OF_X].high) == (Interval(0, 1), 5)


def test_a_lower_bound_goes_if_smaller_sizes_are_a_case_that_holds():
    """Proved for x >= 4, and for x <= 3, but not for both at once: it holds for all. With a hole at 3 the bound stays."""

    def suffices(tried: Assumption, *, most: int) -> bool:
        low, high = tried.dims.get(X, (0, inf))
        return low >= 4 or high <= most

    start = Assumption(dims={X: (4, inf)})
    assert weakened(start, lambda tried: suffices(tried, most=3)) == Assumption()
    assert weakened(start, lambda tried: suffices(tried, most=2)) == start


@pytest.mark.parametrize(("smaller", "larger"), [(X, Y), (Y, X)])
def test_an_equality_becomes_an_inequality(smaller: InputDim, larger: InputDim):
    """y = x >= 3 is tried as y >= x >= 3, and as x >= y >= 3."""
    weaker = Assumption(dims={smaller: (3, inf)}, same={larger: Polynomial.symbol(smaller) + slack_of(larger)})
    start = Assumption(dims={X: (3, inf)}, same={Y: Polynomial.symbol(X)})
    assert weakened(start, lambda tried: tried in (start, weaker)) == weaker
    assert weakened(start, lambda tried: tried == start) == start

"""A run of the analysis that shares results with others finds what a run alone finds."""

import re
from collections.abc import Callable
from itertools import permutations
from typing import Any

import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.openvino_models import counted, looked_up, loop_of, made_of, number, size_of
from ov_gather import prove
from ov_gather.graph.protocol import Key, Node
from ov_gather.graph.symbols import InputDim
from ov_gather.ranges import runs, solver
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.analysis import Analysis, Assumption, analyse
from ov_gather.ranges.graph import AnalysedGraph, in_order
from ov_gather.ranges.prove import graph_of
from ov_gather.ranges.rules.call import CPU_PLUGIN

SIZE = InputDim("ids", 0)
ASSUMPTIONS = {
    "nothing": Assumption(),
    "elements": Assumption({Elements("ids"): Interval(0, 5)}),
    "a size": Assumption(dims={SIZE: (3, 8)}),
    "sizes that are the same": Assumption(same={InputDim("mask", 0): Polynomial.symbol(SIZE)}),
    "all of it": Assumption(
        {Elements("ids"): Interval(-1, 1)},
        {SIZE: (1, 4)},
        {InputDim("mask", 0): Polynomial.symbol(SIZE)},
    ),
}


@pytest.fixture(scope="module")
def graph() -> AnalysedGraph:
    """Sizes, a number that gets a name, a choice, a loop, and what depends on none of the inputs."""

    def make(ids: ov.Node, mask: ov.Node, other: ov.Node) -> ov.Node:
        size = size_of(mask)
        most = ops.reduce_max(ops.clamp(ids, 0, 9), [0, 1])
        places = counted(ops.add(most, size))
        chosen = ops.select(ops.less(places, number(3)), places, ops.subtract(places, number(3)))
        fixed = ops.add(ops.shape_of(other), number(2))
        last = loop_of(ops.minimum(size, number(2)), most, lambda state: ops.minimum(ops.add(state, number(1)), number(7)))
        return ops.add(ops.add(chosen, last), ops.reduce_max(fixed, number(0)))

    return graph_of(made_of(make, ids="i64[?,4]", mask="f32[?,4]", other="f32[?,4]"))


def all_steps(graph: AnalysedGraph) -> list[Node]:
    result = next(node for node in graph.graph._model.get_ops() if node.get_type_name() == "Result")
    return in_order(graph, [graph.graph.key(result.input_value(0))])


def known(analysis: Analysis, steps: list[Node]) -> dict[object, str]:
    """What is known of each tensor. Names of numbers end with the place in which they were given, which says nothing."""
    return {key: re.sub(r"#\d+, 0\)", "", str(analysis.value(key))) for step in steps for key in step.outputs}


@pytest.mark.parametrize(("first", "second"), [*permutations(ASSUMPTIONS, 2)])
def test_what_is_taken_from_an_earlier_run_holds(graph: AnalysedGraph, first: str, second: str) -> None:
    steps = all_steps(graph)
    whole = analyse(graph, steps, CPU_PLUGIN, Assumption())
    earlier = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[first], whole)
    after = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second], whole)
    alone = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second])
    assert known(after, steps) == known(alone, steps)
    assert known(alone, steps) != known(earlier, steps)
    taken = [step for step in steps if all(after.value(key) is earlier.value(key) for key in step.outputs)]
    assert any(step.type == "Add" for step in taken)


def inside(graph: AnalysedGraph, steps: list[Node]) -> list[Node]:
    return [inner for step in steps for body in step.bodies for inner in in_order(graph, graph.ends(body))]


@pytest.mark.parametrize(("first", "second"), [*permutations(ASSUMPTIONS, 2)])
def test_branches_take_from_an_earlier_run_what_holds(first: str, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(ids: ov.Node, mask: ov.Node, other: ov.Node) -> ov.Node:
        condition = ops.less(ops.reduce_max(ops.clamp(ids, 0, 9), [0, 1]), number(3))
        operands = [ids, ops.shape_of(mask), ops.shape_of(other)]

        def branch(ids: ov.Node, sizes: ov.Node, fixed: ov.Node) -> list[ov.Node]:
            most = ops.reduce_max(ops.add(ops.clamp(ids, 0, 9), ops.gather(sizes, number(0), number(0))), [0, 1])
            return [ops.add(most, ops.reduce_max(ops.add(fixed, number(2)), number(0)))]

        return if_of(condition.output(0), operands, branch, branch)[0].get_node()

    graph = graph_of(made_of(make, ids="i64[?,4]", mask="f32[?,4]", other="f32[?,4]"))
    steps = all_steps(graph)
    whole = analyse(graph, steps, CPU_PLUGIN, Assumption())
    analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[first], whole)
    evaluated: list[Node] = []
    original = solver.results_of
    monkeypatch.setattr(solver, "results_of", lambda graph, step, call: evaluated.append(step) or original(graph, step, call))
    after = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second], whole)
    taken = {step.name for step in inside(graph, steps)} - {step.name for step in evaluated}
    alone = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second])
    everything = [*steps, *inside(graph, steps)]
    assert known(after, everything) == known(alone, everything)
    assert taken


@pytest.mark.parametrize(("first", "second"), [*permutations(ASSUMPTIONS, 2)])
def test_loops_take_from_an_earlier_run_what_holds(first: str, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of a number in a body has other bounds in each visit, although the last of them may be as in the earlier run."""

    def make(ids: ov.Node, mask: ov.Node) -> ov.Node:
        def step(state: ov.Node) -> ov.Node:
            fixed = ops.reduce_max(ops.add(number([1, 2, 3]), number(2)), [0])
            after = ops.clamp(ops.abs(ops.subtract(state, fixed)), 0, 1000)
            length = ops.shape_of(ops.range(number(0), after, number(1), "i64"))
            return ops.reduce_max(ops.add(length, fixed), [0])

        first = ops.gather(ops.reshape(ids, number([-1]), False), number(0), number(0))
        return loop_of(ops.clamp(first, 0, 9), size_of(mask), step)

    graph = graph_of(made_of(make, ids="i64[?,4]", mask="f32[?,4]"))
    steps = all_steps(graph)
    whole = analyse(graph, steps, CPU_PLUGIN, Assumption())
    analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[first], whole)
    evaluated: list[Node] = []
    original = solver.results_of
    monkeypatch.setattr(solver, "results_of", lambda graph, step, call: evaluated.append(step) or original(graph, step, call))
    after = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second], whole)
    taken = {step.name for step in inside(graph, steps)} - {step.name for step in evaluated}
    alone = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second])
    everything = [*steps, *inside(graph, steps)]
    assert known(after, everything) == known(alone, everything)
    assert taken


@pytest.mark.parametrize(("first", "second"), [*permutations(ASSUMPTIONS, 2)])
def test_a_run_grows_to_what_one_of_all_steps_finds(graph: AnalysedGraph, first: str, second: str) -> None:
    """It shares results with a run that grows later than itself, too."""
    steps = all_steps(graph)
    alone = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second])
    whole = analyse(graph, steps, CPU_PLUGIN, Assumption())
    near = analyse(graph, steps[:7], CPU_PLUGIN, ASSUMPTIONS[first], whole)
    grown = analyse(graph, steps[:3], CPU_PLUGIN, ASSUMPTIONS[second], whole)
    near.grow(steps)
    assert grown.grow(steps) >= len(steps) - 3
    assert grown.grow(steps) == 0
    assert known(grown, steps) == known(alone, steps)


def test_a_condition_is_tried_on_the_steps_that_lead_to_its_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if these are a third of the model."""
    made: list[Analysis] = []

    def counting(*given: Any, **named: Any) -> Analysis:
        made.append(analyse(*given, **named))
        return made[-1]

    def make(*ids: ov.Node) -> list[ov.Node]:
        moved = list(ids)
        for _ in range(40):
            moved = [ops.add(one, number(1)) for one in moved]
        return [looked_up(100, one) for one in moved]

    monkeypatch.setattr(runs, "analyse", counting)
    prove(made_of(make, one="i64[4]", other="i64[4]", third="i64[4]"))
    assert len(made) > 9
    assert max(one.solver.visits for one in made[1:]) <= 40


def test_bodies_count_in_the_budget() -> None:
    """A body of many nodes is one step of its graph, but costs as much as all that is visited in it."""

    def longer(value: ov.Node) -> ov.Node:
        for _ in range(200):
            value = ops.add(value, number(1))
        return value

    def make(ids: ov.Node) -> ov.Node:
        condition = ops.less(ops.reduce_max(ids, [0]), number(3)).output(0)
        (chosen,) = if_of(condition, [ids], lambda x: [longer(x)], lambda x: [x])
        return loop_of(ops.reduce_max(chosen, [0]), number(3), longer)

    graph = graph_of(made_of(make, ids="i64[?]"))
    assert 400 <= analyse(graph, all_steps(graph), CPU_PLUGIN, Assumption()).solver.visits < 2000


@pytest.mark.parametrize("again", [lambda x: ops.divide(ops.add(x, number(1)), number(2)), ops.abs])
def test_a_chain_is_not_walked_for_each_of_its_nodes(
    again: Callable[[ov.Node], ov.Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    count, calls = 300, 0

    def make(ids: ov.Node) -> ov.Node:
        value = ops.shape_of(ids)
        for _ in range(count):
            value = again(value)
        return value

    graph = graph_of(made_of(make, ids="i64[?]"))
    original = graph.producer

    def producer(key: Key) -> Node | None:
        nonlocal calls
        calls += 1
        return original(key)

    monkeypatch.setattr(graph, "producer", producer)
    analyse(graph, all_steps(graph), CPU_PLUGIN, Assumption())
    assert calls < 60 * count


def test_a_condition_of_its_own_costs_few_analyses(monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a condition, one with symbols for the elements, one with the bounds that these give, and one beyond each."""
    made: list[Analysis] = []

    def counting(*given: Any, **named: Any) -> Analysis:
        made.append(analyse(*given, **named))
        return made[-1]

    monkeypatch.setattr(runs, "analyse", counting)
    names = [f"ids{i}" for i in range(30)]
    model = made_of(lambda *ids: [looked_up(100, one) for one in ids], **dict.fromkeys(names, "i64[4]"))
    assert {name for proof in prove(model) for name in proof.requires} == set(names)
    assert len(made) <= 1 + 4 * len(names)

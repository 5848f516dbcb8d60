"""A run of the analysis that takes what still holds from an earlier one finds what a run without it finds."""

import re
from itertools import permutations

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.openvino_models import counted, loop_of, made_of, number, size_of
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.analysis import Analysis, Assumption, analyse
from ov_gather.ranges.graph import Step, in_order
from ov_gather.ranges.openvino_graph import OpenvinoGraph
from ov_gather.ranges.rules.call import CPU_PLUGIN

ASSUMPTIONS = {
    "nothing": Assumption(),
    "elements": Assumption({"ids": Interval(0, 5)}),
    "a size": Assumption(dims={"dim(ids, 0)": (3, 8)}),
    "sizes that are the same": Assumption(same={"dim(mask, 0)": Polynomial.name("dim(ids, 0)")}),
    "all of it": Assumption(
        {"ids": Interval(-1, 1)}, {"dim(ids, 0)": (1, 4)}, {"dim(mask, 0)": Polynomial.name("dim(ids, 0)")}
    ),
}


@pytest.fixture(scope="module")
def graph() -> OpenvinoGraph:
    """Sizes, a number that gets a name, a choice, a loop, and what depends on none of the inputs."""

    def make(ids: ov.Node, mask: ov.Node) -> ov.Node:
        size = size_of(mask)
        most = ops.reduce_max(ops.clamp(ids, 0, 9), [0, 1])
        places = counted(ops.add(most, size))
        chosen = ops.select(ops.less(places, number(3)), places, ops.subtract(places, number(3)))
        fixed = ops.add(number(np.arange(5)), number(2))
        last = loop_of(ops.minimum(size, number(2)), most, lambda state: ops.minimum(ops.add(state, number(1)), number(7)))
        return ops.add(ops.add(chosen, last), ops.reduce_max(fixed, number(0)))

    return OpenvinoGraph(made_of(make, ids="i64[?,4]", mask="f32[?,4]"))


def all_steps(graph: OpenvinoGraph) -> list[Step]:
    result = next(node for node in graph._model.get_ops() if node.get_type_name() == "Result")
    return in_order(graph, [graph.key(result.input_value(0))])


def known(analysis: Analysis, steps: list[Step]) -> dict[object, str]:
    """What is known of each tensor. Names of numbers end with the place in which they were given, which says nothing."""
    return {key: re.sub(r"#\d+, 0\)", "", str(analysis.value(key))) for step in steps for key in step.outputs}


@pytest.mark.parametrize(("first", "second"), [*permutations(ASSUMPTIONS, 2)])
def test_what_is_taken_from_an_earlier_run_holds(graph: OpenvinoGraph, first: str, second: str) -> None:
    steps = all_steps(graph)
    earlier = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[first])
    after = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second], earlier)
    alone = analyse(graph, steps, CPU_PLUGIN, ASSUMPTIONS[second])
    assert known(after, steps) == known(alone, steps)
    assert known(alone, steps) != known(earlier, steps)
    taken = [step for step in steps if all(after.value(key) is earlier.value(key) for key in step.outputs)]
    assert any(step.type == "Add" for step in taken)

"""What `bisect` finds in graphs of nodes that compute nothing, in how many runs, and what it takes for rounding."""

import math
import random
import tracemalloc

import numpy as np
import pytest

from helpers.seeds import seed_of
from ov_gather.crosscheck.bisect.graphs import ValueGraph
from ov_gather.crosscheck.bisect.rounding import Rounding, difference, errors, largest_error
from ov_gather.crosscheck.bisect.search import CutObservation, Search, first_refused
from ov_gather.graph.protocol import Node
from ov_gather.system.worker import CrashedError


def op(name, inputs, outputs):
    return Node("Op", "", name, (), inputs, outputs)


def graph_of(rng, count, reach):
    """Nodes that take one to three of the `reach` values before them; the last one takes whatever nothing else takes."""
    nodes = []
    for i in range(count - 1):
        before = ["x", *(f"v{j}" for j in range(i))][-reach:]
        nodes.append(op(f"n{i}", tuple(rng.sample(before, min(len(before), rng.randint(1, 3)))), (f"v{i}",)))
    used = {value for node in nodes for value in node.inputs}
    ends = [value for node in nodes for value in node.outputs if value not in used]
    nodes.append(op("last", tuple(ends), ("out",)))
    return ValueGraph(nodes, {"x": "x"}, {"out": "out"})


def behind(graph, guilty):
    """The values that a wrong node makes wrong."""
    wrong = set()
    for node in graph.nodes:
        if node.name in guilty or wrong & set(node.inputs):
            wrong |= set(node.outputs)
    return wrong


def search(graph, wrong, comparable=None, healing=frozenset(), memory=10**9):
    runs = []

    def observe(values, output):
        runs.append(list(values))
        is_shown = not healing & set(values)
        return CutObservation(frozenset(wrong & set(values)) if is_shown else frozenset(), is_shown)

    values = frozenset(graph.producers) if comparable is None else comparable
    return Search(graph, values, lambda value: 1, observe, memory).first_difference("out"), runs


@pytest.mark.sampled(1)
@pytest.mark.parametrize("reach", [1, 2, 5, 40])
def test_any_node_is_found_in_few_runs(reach):
    rng = random.Random(seed_of(reach))
    for count in (1, 2, 3, 17, 100, 300):
        graph = graph_of(rng, count, reach)
        for _ in range(20):
            guilty = rng.choice(graph.nodes)
            found, runs = search(graph, behind(graph, {guilty.name}))
            assert found.nodes == [guilty]
            assert set(found.sources) == set(guilty.inputs)
            assert len(runs) <= 2 + 2 * math.log2(count)


def test_of_several_nodes_one_is_found_whose_operands_are_equal():
    rng = random.Random(seed_of(1))
    for _ in range(100):
        graph = graph_of(rng, 80, 6)
        guilty = {node.name for node in rng.sample(graph.nodes, 4)}
        wrong = behind(graph, guilty)
        found, _ = search(graph, wrong)
        assert found.nodes[0].name in guilty
        assert not wrong & set(found.sources)


def test_nodes_between_values_that_cannot_be_compared_are_found_together():
    rng = random.Random(seed_of(2))
    for _ in range(100):
        graph = graph_of(rng, 80, 6)
        guilty = rng.choice(graph.nodes)
        comparable = frozenset(value for value in graph.producers if rng.random() < 0.5)
        wrong = behind(graph, {guilty.name})
        found, _ = search(graph, wrong, comparable)
        assert guilty in found.nodes
        assert not wrong & set(found.sources)
        assert set(found.sources) <= comparable | {"x"}


def test_a_value_that_differs_although_a_value_behind_it_is_equal():
    """What n0 does wrong is lost in n1, and shows by another way."""
    nodes = [
        op("n0", ("x",), ("a",)),
        op("n1", ("a",), ("b",)),
        op("n2", ("a", "b"), ("c",)),
        *(op(f"m{i}", (f"m{i - 1}" if i else "c",), (f"m{i}",)) for i in range(20)),
        op("n3", ("m19", "b"), ("out",)),
    ]
    graph = ValueGraph(nodes, {"x": "x"}, {"out": "out"})
    found, _ = search(graph, set(graph.producers) - {"b"})
    assert found.nodes == [nodes[0]]


def test_memory_bounds_what_is_observed():
    graph = graph_of(random.Random(3), 100, 30)
    found, runs = search(graph, behind(graph, {"n50"}), memory=3)
    assert found.nodes[0].name == "n50"
    assert max(map(len, runs)) <= 3


def test_a_value_whose_observation_heals_is_named_with_both_sides():
    """The fault is in what is fused across v5."""
    nodes = [op(f"n{i}", (f"v{i - 1}" if i else "x",), (f"v{i}",)) for i in range(12)]
    nodes.append(op("last", ("v11",), ("out",)))
    graph = ValueGraph(nodes, {"x": "x"}, {"out": "out"})
    found, runs = search(graph, {f"v{i}" for i in range(6, 12)} | {"out"}, healing={"v5"})
    assert found.healed_by == ["v5"]
    assert [node.name for node in found.nodes] == ["n5", "n6"]
    assert found.sources == ["v4"]
    assert found.value == "v6"
    assert len(runs) <= 2 + 2 * math.log2(13)


class Side:
    """A side that crashes as soon as a node is among what it executes."""

    def __init__(self, graph, fatal):
        self.graph, self.fatal, self.runs = graph, fatal, 0

    def prefix(self, values):
        self.runs += 1
        waiting, seen = list(values), set()
        while waiting:
            node = self.graph.producers.get(waiting.pop())
            if node is not None and node.name not in seen:
                seen.add(node.name)
                waiting += node.inputs
        if self.fatal in seen:
            raise CrashedError("crashes: SIGSEGV")


def test_the_node_that_crashes_is_found_in_few_runs():
    rng = random.Random(seed_of(4))
    for count in (1, 2, 50, 200):
        graph = graph_of(rng, count, 4)
        for _ in range(10):
            fatal = rng.choice(graph.nodes)
            side = Side(graph, fatal.name)
            assert first_refused(side, CrashedError("crashes: SIGSEGV")).node == fatal
            assert side.runs <= math.ceil(math.log2(max(count, 2)))


@pytest.mark.parametrize(
    ("expected", "found", "differ"),
    [
        (np.float32([1, 2, 3]), np.float32([1, 2, 3.0001]), 0),
        (np.float32([1, 2, 3]), np.float32([1, 2, 3.01]), 1),
        (np.float32([1, -3.4e38]), np.float32([1, -np.inf]), 1),
        (np.float32([1, np.finfo(np.float32).min]), np.float32([1, -np.inf]), 0),
        (np.float32([1, 2, -1e9, -1e9]), np.float32([1, 2.1, -1e9, -1e9]), 1),
        (np.float32([np.nan, np.inf]), np.float32([np.nan, np.inf]), 0),
        (np.float32([np.nan, np.inf]), np.float32([np.nan, 1]), 1),
        (np.float32([1e-42, 1]), np.float32([0, 1]), 0),
        (np.int64([1, 2**31]), np.int64([1, 2**31 - 1]), 0),
        (np.int64([1, 2**33 + 5]), np.int64([1, 5]), 0),
        (np.int64([1, 2]), np.int32([1, 3]), 1),
        (np.array([True, False]), np.array([True, True]), 1),
        (np.array(["a", "b"], object), np.array(["a", "c"], object), 1),
        (np.float32(2), np.float32([2]), 0),
        (np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), 0),
    ],
)
def test_what_rounding_explains(expected, found, differ):
    """A mask of -1e9 does not make differences beside it small."""
    different = difference(expected, found, 1e-4)
    assert (different.count if different else 0) == differ


def test_noise_of_the_reference_is_allowed():
    expected, found = np.float32([1, 2]), np.float32([1, 2.05])
    assert difference(expected, found, 1e-4)
    assert not difference(expected, found, 1e-4, noise=0.01)
    assert difference(expected, found, 1e-4, noise=0.001)


def test_other_shapes_are_told():
    assert difference(np.zeros((2, 3)), np.zeros((3, 2)), 1e-4) == "expected float64[2, 3], here float64[3, 2]"


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(5).standard_normal((1000, 500)).astype(np.float32)


@pytest.mark.parametrize(("precision", "digits"), [("f16", 10), ("bf16", 7)])
def test_the_share_grows_with_the_root_of_the_operations_up_to_64(precision, digits):
    """One operation may be off by some units in the last place, of which a number of the precision has so many digits."""
    share = Rounding(precision).share
    assert [share(depth) for depth in (0, 1, 4, 64, 1000)] == [2.0**-digits * units for units in (4, 4, 8, 32, 32)]


def test_one_wrong_element_of_many_is_found_where_it_is(numbers):
    wrong = numbers.copy()
    wrong[999, 498] += 1
    assert not difference(numbers, numbers * np.float32(1 + 1e-6), 1e-4)
    found = difference(numbers, wrong, 1e-4)
    assert (found.position, found.count, found.size) == ((999, 498), 1, numbers.size)
    assert largest_error(numbers, wrong) == pytest.approx(1, abs=1e-6)
    assert not difference(numbers, wrong, 1e-4, noise=0.2)


def test_what_is_usual_is_told_by_the_numbers_that_are_there(rng):
    """A mask of the least number, and zeros, say nothing of how far the other numbers may be off."""
    expected = np.zeros((400, 1000), np.float32)
    expected[7, :20] = rng.standard_normal(20)
    expected[8, :4] = np.finfo(np.float32).min
    wrong = expected.copy()
    wrong[7, 3] += 0.05
    assert difference(expected, wrong, 1e-4).position == (7, 3)
    assert not difference(expected, wrong, 1e-1)
    assert not difference(np.zeros(0, np.float32), np.zeros(0, np.float32), 1e-4)
    assert largest_error(np.zeros(0), np.zeros(0)) == 0


def test_little_is_held_beside_the_arrays():
    expected = np.ones((4, 1 << 20), np.float32)
    found = expected.copy()
    tracemalloc.start()
    difference(expected, found, 1e-4)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < expected.nbytes


def test_neighbours_move_what_rounding_moves():
    """Whole numbers, infinities and integers are exact; other numbers move by less than 2e-6 of themselves in f32."""
    rounding = Rounding("f32")
    array = np.float32([0.1, 3.0, -0.0, np.inf, 1e-20, -7.25])
    moved, other = rounding.neighbours([array, array], 0)
    assert moved.dtype == np.float32
    assert list(moved == array) == [False, True, True, True, False, False]
    assert (np.abs(moved[[0, 4, 5]] - array[[0, 4, 5]]) <= 2e-6 * np.abs(array[[0, 4, 5]])).all()
    assert not np.array_equal(other, moved)
    assert not np.array_equal(rounding.neighbours([array], 1)[0], moved)
    whole = np.int64([1, 2])
    assert rounding.neighbours([whole], 0)[0] is whole
    assert np.abs(Rounding("bf16").neighbours([array], 0)[0][0] - array[0]) > 1e-5


def test_noise_of_each_element():
    expected, found = np.float32([1e-8, 1e-8, 1.0]), np.float32([2e-8, 0.5, 1.0])
    assert difference(expected, found, 0).count == 2
    noise = np.float64([1e-9, 1e-9, 0])
    assert difference(expected, found, 0, noise).position == (1,)
    assert not difference(expected, np.float32([2e-8, 1e-8, 1.0]), 0, noise)


def test_errors_of_arrays_that_cannot_be_compared():
    assert list(errors(np.float32([1, 2]), np.float32([1, 4]))) == [0, 2]
    assert list(errors(np.float32([1, 2]), np.float32([1]))) == [0, 0]

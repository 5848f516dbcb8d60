"""Values that a model keeps in a range itself: what the analysis says, worked out by hand, and what the CPU plugin computes."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.made_symbols import Letter
from helpers.openvino_models import loop_of, number, size_of
from ov_gather import prove
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.algebra.symbols import Elements, Extreme
from ov_gather.ranges.analysis import Assumption, analyse
from ov_gather.ranges.graph import in_order
from ov_gather.ranges.prove import graph_of
from ov_gather.ranges.rules.call import CPU_PLUGIN
from ov_gather.ranges.runs import joined

ALL = (-(2**31), 2**31 - 1)
WIDE = np.array([2**32 + 5, 2**32 + 60, -(2**32) - 3, 2**40, 5, 70, -1, 2**31 - 1, 49, 50, 0, -(2**31)])
"""Numbers of 64 bits, of which the plugin keeps the lower 32: 5, 60, -3, 0, ..."""
NARROW = np.int32([2**31 - 1, 2**31 - 64, -(2**31), 2**24 + 1, 0, -1, 48, 49, 50, 63, 64, 7])
REAL = np.float32([np.nan, np.inf, -np.inf, 0.3, -0.0, 1e30, -1e30, 3e9, 48.9, 49, 50, -1])
GIVEN = {"i64": WIDE, "i32": NARROW, "f32": REAL}
SMALL = np.int32(2**31 - 1)


def i32(value):
    return number(value, np.int32)


def f32(value):
    return number(value, np.float32)


def inside(x, low=0, size=50):
    return ops.greater_equal(x, number(low)), ops.less(x, number(size))


def outside(x):
    return ops.logical_or(ops.less(x, number(0)), ops.greater_equal(x, number(50)))


def below_50(x, zero=0.0, edge=49.0):
    """min(max(x, 0), 49) of fractions, the constants second."""
    return ops.convert(ops.minimum(ops.maximum(x, f32(zero)), f32(edge)), "i64")


def none_missing(x, compare):
    """-1, which stands for nothing, becomes 0."""
    chosen = (x, i32(0)) if compare is ops.not_equal else (i32(0), x)
    return ops.select(compare(x, i32(-1)), *chosen)


CASES = {
    # Select: by both parts of a conjunction, and by neither of a disjunction
    "and": ("i64", lambda x: ops.select(ops.logical_and(*inside(x)), x, number(0)), (0, 49)),
    "bitwise and": ("i64", lambda x: ops.select(ops.bitwise_and(*inside(x)), x, number(0)), (0, 49)),
    "not or": ("i64", lambda x: ops.select(ops.logical_not(outside(x)), x, number(0)), (0, 49)),
    "or": ("i64", lambda x: ops.select(outside(x), number(0), x), (0, 49)),
    "and, converted": (
        "i64",
        lambda x: ops.select(ops.convert(ops.convert(ops.logical_and(*inside(x)), "i32"), "boolean"), x, number(0)),
        (0, 49),
    ),
    "and, of the other operand": ("i64", lambda x: ops.select(ops.logical_and(*inside(x)), number(0), x), ALL),
    "or, of one part": ("i64", lambda x: ops.select(ops.logical_or(*inside(x)), x, number(0)), ALL),
    "computed on": ("i64", lambda x: ops.select(ops.logical_and(*inside(x)), ops.add(x, number(3)), number(0)), (0, 52)),
    # a conversion may see all 64 bits, and the comparison sees 32
    "converted": (
        "i64",
        lambda x: ops.convert(ops.select(ops.logical_and(*inside(x)), ops.convert(x, "f32"), f32(0)), "i32"),
        ALL,
    ),
    "equal": ("i32", lambda x: ops.select(ops.equal(x, i32(7)), x, i32(3)), (3, 7)),
    "not equal": ("i32", lambda x: none_missing(ops.clamp(x, -1, 9), ops.not_equal), (0, 9)),
    "unless equal": ("i32", lambda x: none_missing(ops.clamp(x, -1, 9), ops.equal), (0, 9)),
    "unless equal to another": ("i32", lambda x: none_missing(ops.clamp(x, -2, 9), ops.equal), (-2, 9)),
    # Maximum and Minimum are exact, but for what is computed in float32
    "min(max(i, 0), 49)": ("i64", lambda x: ops.minimum(ops.maximum(x, number(0)), number(49)), (0, 49)),
    "max(min(i, 49), 0)": ("i32", lambda x: ops.maximum(ops.minimum(x, i32(49)), i32(0)), (0, 49)),
    "max(i, 0)": ("i32", lambda x: ops.maximum(x, i32(0)), (0, 2**31 - 1)),
    "max(i + 1, 0)": ("i32", lambda x: ops.maximum(ops.add(x, i32(1)), i32(0)), (0, 2**31 - 1)),
    "max(relu(i), 0)": ("i32", lambda x: ops.maximum(ops.relu(x), i32(0)), ALL),
    "max(i % n, 0)": ("i32", lambda x: ops.maximum(ops.floor_mod(x, i32(SMALL)), i32(0)), ALL),
    "of fractions": (
        "f32",
        lambda x: ops.minimum(ops.maximum(ops.convert(ops.multiply(x, f32(50)), "i32"), i32(0)), i32(49)),
        (0, 49),
    ),
    # masks
    "i & 63": ("i64", lambda x: ops.bitwise_and(x, number(63)), (0, 63)),
    "63 & i": ("i32", lambda x: ops.bitwise_and(i32(63), x), (0, 63)),
    "relu(i) & 63": ("i32", lambda x: ops.bitwise_and(ops.relu(x), i32(63)), (0, 63)),
    "i | 63": ("i32", lambda x: ops.bitwise_or(ops.clamp(x, 0, 100), i32(63)), (0, 127)),
    # NaN becomes the lower limit of Clamp, and the second operand of Maximum
    "clamp": ("f32", lambda x: ops.convert(ops.clamp(x, 0, 49), "i64"), (0, 49)),
    "clamp of floor": ("f32", lambda x: ops.convert(ops.clamp(ops.floor(ops.multiply(x, f32(50))), 0, 49), "i64"), (0, 49)),
    "clamp of a quotient": ("f32", lambda x: ops.convert(ops.clamp(ops.divide(x, x), 1, 49), "i64"), (0, 49)),
    "min(max(x, 0), 49)": ("f32", below_50, (0, 49)),
    "max(0, x)": ("f32", lambda x: ops.convert(ops.minimum(ops.maximum(f32(0), x), f32(49)), "i64"), (0, 49)),
    "max(0, x) alone": ("f32", lambda x: ops.convert(ops.minimum(f32(49), ops.maximum(f32(0), x)), "i64"), ALL),
    "no clamp": ("f32", lambda x: ops.convert(x, "i64"), ALL),
}


def known_of(output, *inputs):
    graph = graph_of(ov.Model([output], list(inputs)))
    key = graph.graph.key(output)
    return analyse(graph, in_order(graph, [key]), CPU_PLUGIN, Assumption()).value(key)


@pytest.mark.sampled(27)
@pytest.mark.parametrize("shape", [[12], [-1]], ids=["static", "open"])
@pytest.mark.parametrize("name", CASES)
def test_a_value_in_range(name, shape):
    kind, make, expected = CASES[name]
    x = ops.parameter(ov.PartialShape(shape), GIVEN[kind].dtype)
    result = make(x)
    elements = known_of(result.output(0), x).elements
    assert (elements.low, elements.high) == expected
    model = ov.Core().compile_model(ov.Model([result], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found = model([GIVEN[kind]])[0]
    assert expected[0] <= found.min() <= found.max() <= expected[1]


def test_a_stored_maximum_of_what_is_computed_in_float32():
    """The plugin makes -2^31 of 2^31 - 1, and 49 is not below that."""
    x = ops.parameter([12], np.int32)
    first = ops.maximum(ops.relu(x), i32(0))
    last = ops.minimum(first, i32(49))
    model = ov.Core().compile_model(ov.Model([first, last], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    stored, found = model([NARROW]).values()
    assert stored.min() == -(2**31)
    assert found.max() <= 49
    assert known_of(last.output(0), x).elements.low == -(2**31)


def test_a_constant_nan():
    """OpenVINO folds it in another way than it executes a Clamp."""
    clamped = ops.clamp(ops.divide(f32([0.0]), f32([0.0])), 0, 49)
    assert known_of(clamped.output(0)).may_be_nan


def inverse_of(x):
    return ops.unique(x, None, True, "i64", "i64").outputs()


@pytest.mark.parametrize("values", [[3, 3, 3, 3], [4, 1, 4, -2], [2**31 - 1, -(2**31), 0, 0]])
def test_unique(values):
    x = ops.parameter([4], np.int32)
    distinct, first, inverse, count = inverse_of(x)
    size = Polynomial.symbol(graph_of(ov.Model([distinct], [x])).graph.size_symbol((distinct.get_node().get_name(), 0), 0))
    assert known_of(inverse, x).elements.highs == (size - 1,)
    known = [known_of(one, x).elements for one in (first, inverse, count)]
    assert [(one.low, one.high) for one in known] == [(0, 3), (0, 3), (1, 4)]
    for some in ([inverse], [distinct, first, inverse, count]):
        results = ov.Core().compile_model(ov.Model(some, [x]), "CPU")([np.int32(values)])
        found = results[some.index(inverse)]
        assert found.min() == 0
        assert found.max() == len(set(values)) - 1


@pytest.mark.parametrize("most", [3, 100])
def test_non_max_suppression(most):
    boxes, scores = ops.parameter([1, 20, 4], np.float32), ops.parameter([1, 2, 20], np.float32)
    kept = ops.non_max_suppression(boxes, scores, number(most), f32(0.5), f32(0.0)).output(0)
    known = known_of(kept, boxes, scores)
    assert [(part.low, part.high) for part in known.parts.intervals] == [(0, 0), (0, 1), (0, 19)]
    rng = np.random.default_rng(5)
    corners = np.sort(rng.random((1, 20, 2, 2)), axis=2).reshape(1, 20, 4).astype(np.float32)
    given = [corners, rng.random((1, 2, 20)).astype(np.float32)]
    found = ov.Core().compile_model(ov.Model([kept], [boxes, scores]), "CPU")(given)[0]
    assert len(found)
    assert (found >= 0).all()
    assert (found.max(0) <= [0, 1, 19]).all()


@pytest.mark.parametrize(
    "work",
    [
        ops.exp,
        lambda boxes: ops.add(boxes, ops.exp(boxes)),
        lambda boxes: ops.select(ops.less(boxes, f32(0)), boxes, ops.exp(boxes)),
        lambda boxes: ops.concat([boxes, ops.exp(ops.add(boxes, boxes))], 0),
        lambda boxes: loop_of(boxes, number(3), ops.exp),
    ],
)
def test_the_operation_without_a_rule_is_named(work):
    """Not the input beside it, which could be bounded."""
    boxes = ops.parameter([20, 4], np.float32, name="boxes")
    index = ops.convert(work(boxes), "i64")
    (proof,) = prove(ov.Model([ops.gather(f32([1, 2, 3]), index, number(0))], [boxes]))
    assert proof.reason.startswith("nothing is known of the values of Exp '")


@pytest.mark.parametrize(("factor", "plus"), [(1, 50), (1, 100), (1, 48), (1, -50), (2, 1), (-1, 5), (4, 100), (3, -1)])
@pytest.mark.parametrize("size", [50, 1000])
def test_the_weakest_range(size, factor, plus):
    """The numbers i with -n <= factor * i + plus < n, all of them."""
    i = ops.parameter([3], np.int32, name="i")
    index = ops.add(ops.multiply(i, i32(factor)), i32(plus))
    (proof,) = prove(ov.Model([ops.gather(f32(np.zeros(size)), index, number(0))], [i]))
    valid = [n for n in range(-3000, 3000) if -size <= factor * n + plus < size]
    (bounds,) = proof.requires.values()
    assert bounds == (min(valid), max(valid))


def test_symbols_of_elements_may_be_negative():
    """A condition on a symbol that the other lacks is taken as it is."""
    least = Extreme(Elements("i"), False)
    assert joined(Assumption(), Assumption(dims={least: (-9, 9)})).dims == {least: (-9, 9)}


def part_of(x, stop):
    """x[0:stop:2], whose size no polynomial says."""
    return ops.slice(x, number([0]), stop, number([2]))


def test_a_size_that_grows_with_the_iterations():
    """In the first visit of the body the slice has one element at most, and later more, which the table does not have."""
    x = ops.parameter([100], np.float32, name="x")

    def step(stop):
        inner = ops.broadcast(f32(0), number([100]))
        places = ops.range(number(0), size_of(part_of(inner, stop)), number(1), "i64")
        rows = ops.gather(number([1, 1, 1]), places, number(0))
        return ops.add(stop, ops.reduce_max(rows, number([0]), True))

    stop = ops.add(number([2]), ops.convert(ops.multiply(ops.slice(x, *map(number, ([0], [1], [1]))), f32(0)), "i64"))
    model = ov.Model([loop_of(ops.clamp(stop, 2, 2), number(20), step)], [x])
    statuses = [proof.status for proof in prove(model) if proof.axis_size == 3]
    assert statuses
    assert "proved" not in statuses


def test_a_size_is_narrowed_from_what_is_declared():
    size = Letter("d")
    sizes = Sizes({}, declared={size: (0, 100)})
    for most, expected in ((2, (0, 2)), (50, (0, 50)), (200, (0, 100))):
        sizes.narrow(Polynomial.symbol(size), most)
        assert sizes.of(size) == expected


def test_a_dimension_is_at_least_1_where_indices_are_broadcast_from_it():
    """A row that exists has an element, and so has each tensor that it is computed from."""
    h, mask = ops.parameter(ov.PartialShape([-1, 4]), np.float32, name="h"), ops.parameter(ov.PartialShape([-1]), np.int64)
    row = ops.minimum(ops.maximum(mask, number(0)), ops.subtract(size_of(h), number(1)))
    line = ops.add(row, ops.range(number(0), size_of(h), number(1), "i64"))
    last = ops.minimum(line, ops.subtract(size_of(h), number(1)))
    assert [proof.status for proof in prove(ov.Model([ops.gather(h, last, number(0))], [h, mask]))][-1] == "proved"

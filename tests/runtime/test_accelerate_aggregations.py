"""`accelerate`: the aggregation of graph networks becomes one operation, where nothing else can see the difference."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset7, opset15
from openvino import opset13 as ops

from helpers.accelerating import (
    accelerated,
    check_accelerated,
    check_raises,
    check_stays,
    executable,
    model_of,
    operations,
    parameter,
)
from ov_gather.acceleration.graph import ours

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

NODES, EDGES, WIDTH = 9, 40, 12
FUSED = ["ov_gather.GatherScatter by [40]"]


def rows(width=(WIDTH,), *, x=None, index="s", gather=ops.gather, axis=0):
    return gather(x or parameter("x", [NODES, *width]), parameter(index, [EDGES], np.int64), ops.constant(axis))


def scattered(messages, *, zeros=None, index=None, reduction="sum"):
    """The sum of the messages to each target; `t` are the targets."""
    width = list(messages.get_output_partial_shape(0))[1].get_length()
    zeros = ops.constant(np.zeros((NODES, width), np.float32)) if zeros is None else zeros
    column = ops.unsqueeze(parameter("t", [EDGES], np.int64), ops.constant(1)) if index is None else index
    return opset15.scatter_nd_update(zeros, column, messages, reduction)


def sliced(value, step=1):
    ends = [np.full(2, end) for end in ((0, 2**31 - 1, 1) if step == 1 else (-1, -(2**31) + 1, step))]
    return ops.slice(value, *map(ops.constant, ends), ops.constant(np.arange(2)))


def heads(weights):
    return ops.reshape(ops.multiply(rows((4, 3)), parameter("w", weights)), ops.constant(np.array([-1, WIDTH])), False)


def arrays(model, seed=0, **given):
    rng = np.random.default_rng(seed)
    made = {}
    for node in model.get_parameters():
        name, shape = node.get_friendly_name(), node.get_output_shape(0)
        number = (
            rng.standard_normal(shape, np.float32) if node.get_element_type().is_real() else rng.integers(-NODES, NODES, shape)
        )
        made[name] = number.astype(node.get_element_type().to_dtype())
    return list((made | given).values())


def loop(model, given):
    """The sums by NumPy, for the inputs `s`, `t`, `x` and maybe `w` of a model."""
    by_name = {node.get_friendly_name(): array for node, array in zip(model.get_parameters(), given, strict=True)}
    output = np.zeros((NODES, WIDTH), np.float32)
    for edge in range(EDGES):
        message = by_name["x"][by_name["s"][edge]]
        output[by_name["t"][edge]] += (message * by_name["w"][edge] if "w" in by_name else message).reshape(-1)
    return output


PATTERNS = {
    "rows": lambda: scattered(rows()),
    "a slice of all": lambda: scattered(sliced(rows())),
    "a weight an edge": lambda: scattered(ops.multiply(rows(), parameter("w", [EDGES, 1]))),
    "a weight before": lambda: scattered(sliced(ops.multiply(parameter("w", [EDGES, 1]), sliced(rows())))),
    "a weight an element": lambda: scattered(ops.multiply(rows(), parameter("w", [EDGES, WIDTH]))),
    "heads": lambda: scattered(sliced(heads([EDGES, 4, 1]))),
    "heads of one weight": lambda: scattered(heads([EDGES, 1, 1])),
    "zeros from a Broadcast": lambda: scattered(
        rows(), zeros=ops.broadcast(ops.constant(np.float32(0)), ops.constant(np.array([NODES, WIDTH])))
    ),
    "repeated indices": lambda: ops.scatter_elements_update(
        ops.constant(np.zeros((NODES, WIDTH), np.float32)),
        ops.broadcast(
            ops.unsqueeze(parameter("t", [EDGES], np.int64), ops.constant(1)), ops.constant(np.array([EDGES, WIDTH]))
        ),
        rows(),
        ops.constant(0),
        "sum",
    ),
    "ours": lambda: ours(
        "ScatterND",
        [
            ops.constant(np.zeros((NODES, WIDTH), np.float32)).output(0),
            ops.unsqueeze(parameter("t", [EDGES], np.int64), ops.constant(1)).output(0),
            rows().output(0),
        ],
        {"reduction": "add"},
    ),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_aggregation_becomes_one_operation_with_the_same_bits(pattern):
    model = model_of(PATTERNS[pattern]())
    other, summary = check_accelerated(model, *(arrays(model, seed) for seed in range(3)))
    kinds = [kind for kind in operations(other) if kind.startswith(("Gather", "Scatter", "Multiply", "ov_gather"))]
    assert kinds == ["ov_gather.GatherScatter"]
    assert {change.steps[-2] for change in summary.changes} == set(FUSED)
    assert all(change.rounds_elsewhere for change in summary.changes)
    given = arrays(model)
    assert executable(other)(given)[0].tobytes() == loop(model, given).tobytes()


def test_messages_whose_shape_alone_is_read():
    messages = rows()
    sizes = ops.shape_of(messages)
    other, _ = check_accelerated(model := model_of(scattered(messages), sizes), arrays(model))
    assert "ov_gather.GatherScatter" in operations(other)


def _into(value):
    return ops.constant(np.full((NODES, WIDTH), value, np.float32))


STAYING = {
    "another reader of the messages": (
        lambda: [scattered(m := rows()), ops.relu(m)],
        "the rows that it adds are read elsewhere",
    ),
    "another reader of the rows": (
        lambda: [scattered(ops.multiply(m := rows(), parameter("w", [EDGES, 1]))), ops.relu(m)],
        "the rows that it adds are read elsewhere",
    ),
    "the messages are an output": (lambda: [scattered(m := rows()), m], "the rows that it adds are read elsewhere"),
    "ones": (lambda: [scattered(rows(), zeros=_into(1))], "it adds to other numbers than zeros"),
    "negative zeros": (lambda: [scattered(rows(), zeros=_into(-0.0))], "it adds to other numbers than zeros"),
    "an input": (lambda: [scattered(rows(), zeros=parameter("d", [NODES, WIDTH]))], "it adds to other numbers than zeros"),
    "another axis": (
        lambda: [scattered(rows(x=parameter("x", [EDGES, WIDTH]), index="i", axis=1))],
        "what it adds is not gathered along the first axis",
    ),
    "an old Gather": (lambda: [scattered(rows(gather=opset7.gather))], "what it adds is not gathered along the first axis"),
    "a weight a column": (
        lambda: [scattered(ops.multiply(rows(), parameter("w", [1, WIDTH])))],
        "indices and weights are not known to be one for each row",
    ),
    "a weight within heads": (lambda: [scattered(heads([EDGES, 1, 3]))], "a weight is not for adjacent elements of one row"),
    "tuples of elements": (
        lambda: [
            opset15.scatter_nd_update(
                ops.constant(np.zeros((NODES, WIDTH, 2), np.float32)), parameter("t", [EDGES, 2], np.int64), rows((2,)), "sum"
            )
        ],
        "it does not add one row for each index",
    ),
    "no sum": (lambda: [scattered(rows(), reduction="max")], ""),
    "reversed messages": (lambda: [scattered(sliced(rows(), -1))], ""),
    "other messages": (lambda: [scattered(ops.relu(rows()))], ""),
}


@pytest.mark.parametrize("case", STAYING)
def test_what_stays(case):
    outputs, reason = STAYING[case][0](), STAYING[case][1]
    other, summary = accelerated(model_of(*outputs), "fuse-aggregations")
    assert "ov_gather.GatherScatter" not in operations(other)
    assert reason in " ".join(change.reason for change in summary.changes)


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int32])
def test_other_types_stay(kind):
    zeros = ops.constant(np.zeros((NODES, WIDTH), kind))
    model = model_of(scattered(rows(x=parameter("x", [NODES, WIDTH], kind)), zeros=zeros))
    assert "not all bits are known to stay" in accelerated(model)[1].changes[-1].reason


@pytest.mark.parametrize(
    "name, shape, reason",
    [
        ("x", [-1, WIDTH], "how many nodes there are is open"),
        ("x", [NODES, -1], "the size of the aggregation is open"),
        ("s", [-1], "indices and weights are not known to be one for each row"),
        ("w", [-1, 1], "indices and weights are not known to be one for each row"),
    ],
)
def test_open_sizes_stay(name, shape, reason):
    model = model_of(scattered(ops.multiply(rows(), parameter("w", [EDGES, 1])) if name == "w" else rows()))
    model.reshape({name: ov.PartialShape(shape)})
    check_stays(model, "fuse-aggregations")
    reasons = [change.reason for change in accelerated(model, "fuse-aggregations")[1].changes]
    assert reason in reasons, reasons


@pytest.mark.parametrize("has_weights", [False, True])
def test_the_number_of_edges_may_be_open(has_weights):
    """As in layers that drop the edges from a node to itself, and add one for each node."""
    ends, nodes = parameter("ends", [2, -1], np.int64), ops.constant(np.tile(np.arange(NODES), (2, 1)))
    source, target = (ops.gather(ends, ops.constant(row), ops.constant(0)) for row in (0, 1))
    kept = ops.squeeze(ops.non_zero(ops.not_equal(source, target), "i64"), ops.constant(0))
    edges = ops.concat([ops.gather(ends, kept, ops.constant(1)), nodes], 1)
    source, target = (ops.gather(edges, ops.constant(row), ops.constant(0)) for row in (0, 1))
    data = parameter("x", [NODES, WIDTH])
    messages = ops.gather(data, source, ops.constant(0))
    if has_weights:
        scores = ops.exp(ops.prelu(ops.gather(parameter("score", [NODES, 1]), source, ops.constant(0)), np.float32([0.2])))
        messages = ops.multiply(messages, scores)
    model = model_of(scattered(messages, index=ops.unsqueeze(target, ops.constant(1))))
    given = arrays(model_of(data, parameter("score", [NODES, 1]))) if has_weights else arrays(model_of(data))
    rng = np.random.default_rng(0)
    other, _ = check_accelerated(model, *([rng.integers(0, NODES, (2, count)), *given] for count in (0, 1, 2, 40)))
    assert "ov_gather.GatherScatter" in operations(other)


@pytest.mark.parametrize("sizes", [(5, 6, 6), (6, 5, 6), (6, 6, 5), (2, 2, 2), (6, 6, 6)])
def test_other_numbers_of_sources_targets_and_weights_raise_before_and_after(sizes):
    few = ov.Dimension(2, -1)
    weights, target = parameter("w", ov.PartialShape([few, 1])), parameter("t", ov.PartialShape([few]), np.int64)
    source = parameter("s", ov.PartialShape([few]), np.int64)
    messages = ops.multiply(ops.gather(parameter("x", [NODES, WIDTH]), source, ops.constant(0)), weights)
    model = model_of(scattered(messages, index=ops.unsqueeze(target, ops.constant(1))))
    rng = np.random.default_rng(0)
    by_name = {
        "x": rng.standard_normal((NODES, WIDTH), np.float32),
        "s": rng.integers(0, NODES, sizes[0]),
        "t": rng.integers(0, NODES, sizes[1]),
        "w": rng.standard_normal((sizes[2], 1), np.float32),
    }
    given = [by_name[node.get_friendly_name()] for node in model.get_parameters()]
    other, _ = accelerated(model)
    assert "ov_gather.GatherScatter" in operations(other)
    if len(set(sizes)) == 1:
        check_accelerated(model, given)
        return
    for each in (model, other):
        with pytest.raises(RuntimeError):
            executable(each)(given)


def test_no_stock_operation_does_it_and_small_ones_stay(monkeypatch):
    model = model_of(scattered(rows()))
    check_stays(model, portable=True)
    monkeypatch.undo()
    assert accelerated(model)[1].changes[-1].reason == "too small to gain"


@pytest.mark.parametrize("bad", [NODES, -NODES - 1, 10_000])
def test_sources_out_of_bounds_are_zeros_as_before(bad):
    model = model_of(scattered(ops.multiply(rows(), parameter("w", [EDGES, 1]))))
    sources = np.arange(EDGES) % NODES
    sources[[3, 17]] = bad
    check_accelerated(model, arrays(model, s=sources))


@pytest.mark.parametrize("bad", [NODES, -NODES - 1, 10_000])
def test_targets_out_of_bounds_are_an_error_as_before(bad):
    model = model_of(scattered(rows()))
    targets = np.arange(EDGES) % NODES
    targets[17] = bad
    check_raises(arrays(model, t=targets), accelerated(model)[0], match=rf"targets\[17\] = {bad} is out of bounds")
    check_raises(arrays(model, t=targets), model, match="ScatterNDUpdate")


def test_sources_out_of_bounds_of_our_gather_are_an_error_as_before():
    values = [parameter("x", [NODES, WIDTH]), parameter("s", [EDGES], np.int64), ops.constant(0)]
    gather = ours("Gather", [value.output(0) for value in values], {"batch_dims": 0, "bounds": "error"})
    model = model_of(scattered(gather))
    other, _ = check_accelerated(model, arrays(model))
    sources = np.arange(EDGES) % NODES
    sources[17] = NODES
    assert "ov_gather.GatherScatter" in operations(other)
    check_raises(arrays(model, s=sources), model, other, match=rf"\[17\] = {NODES} is out of bounds for axis 0 of size {NODES}")


def test_what_is_left_by_name_stays():
    model = model_of(scattered(rows()))
    for operation in model.get_ordered_ops():
        if operation.get_type_name() in ("Gather", "ScatterNDUpdate"):
            name = operation.get_friendly_name()
            assert "ov_gather.GatherScatter" not in operations(accelerated(model, leave=[name])[0])


@pytest.mark.parametrize("hint", ["bf16", "f16"])
def test_lower_precision_is_no_less_accurate(hint):
    model = model_of(scattered(ops.multiply(rows(), parameter("w", [EDGES, 1]))))
    given = arrays(model)
    right = loop(model, given)
    before, after = (np.abs(executable(each, hint)(given)[0] - right).max() for each in (model, accelerated(model)[0]))
    assert after <= before + 1e-6

"""`accelerate`: labels that are gathered from LogSoftmax."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import (
    accelerated,
    check_accelerated,
    check_same,
    check_stays,
    executable,
    model_of,
    operations,
    parameter,
    transpose,
)
from ov_gather.acceleration import costs

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")


def label_scores(logits, index, axis, *, gathered_axis=None, behind=lambda node: node, ways=1):
    """A model that computes the log-probability of each label."""
    probabilities = ops.log_softmax(parameter("data", logits), axis)
    labels = [parameter(f"i{way}", index, np.int64) for way in range(ways)]
    gathers = [ops.gather_elements(probabilities, each, axis if gathered_axis is None else gathered_axis) for each in labels]
    for gather in gathers:
        gather.set_friendly_name("scores")
        gather.output(0).set_names({"scores"})
    return model_of(*map(behind, gathers))


def executed(model):
    """The layers that each node of the CPU plugin executes."""
    found = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).get_runtime_model().get_ordered_ops()
    return [set(node.get_rt_info()["originalLayersNames"].value.split(",")) for node in found]


LABELS = [([4, 40, 100], [4, 40, 50], 2), ([40, 100], [40, 9], -1), ([3, 100, 8], [3, 5, 8], 1), ([100], [1], 0)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("logits", "index", "axis"), LABELS)
@pytest.mark.parametrize("hint", ["f32", "bf16", "f16"])
def test_labels_are_gathered_from_logits(logits, index, axis, hint, rng):
    """A hint that the machine has no instructions for is f32. In f16 the last steps may be rounded elsewhere: a mean of so few
    numbers tells nothing, so that each may be off by a step of f16 more than the worst was before."""
    model = label_scores(logits, index, axis)
    other, summary = accelerated(model)
    assert summary.changes[0].done == ["before LogSoftmax", f"ov_gather.GatherElements by {ov.PartialShape(index)}"]
    assert "LogSoftmax-5" not in operations(other)
    result = other.get_results()[0].input_value(0)
    assert (result.get_node().get_friendly_name(), result.get_names()) == ("scores", {"scores"})
    stock, ours, in_f32 = executable(model, hint), executable(other, hint), executable(model)
    for special in (1, np.nan, np.inf, -np.inf, 3e38, 1e-42, 0.0):
        values = rng.standard_normal(logits).astype(np.float32)
        values.reshape(-1)[::3] = special
        arrays = [values, rng.integers(-logits[axis], logits[axis], index)]
        before, after = stock(arrays), ours(arrays)
        if hint == "f16":
            (exact,) = in_f32(arrays)
            finite = np.isfinite(exact) & np.isfinite(before[0]) & np.isfinite(after[0])
            was, now = (np.abs(found[0] - exact)[finite].max(initial=0) for found in (before, after))
            assert now <= was + 2**-10 * np.abs(exact[finite]).max(initial=0)
        else:
            assert before[0].tobytes() == after[0].tobytes()


def test_all_that_gather_labels_share_the_sums(rng):
    model = label_scores([40, 100], [40, 9], 1, ways=2)
    other, summary = check_accelerated(model, [rng.random((40, 100), np.float32), *rng.integers(0, 100, (2, 40, 9))])
    assert [change.done[0] for change in summary.changes] == ["before LogSoftmax"] * 2
    assert operations(other).count("ReduceSum-1") == 1


@pytest.mark.parametrize(("logits", "index", "axis"), LABELS)
def test_the_last_steps_of_logsoftmax_stay_apart(logits, index, axis):
    """The plugin would round the steps once, not twice, if it fused them in half precision."""
    other, _ = accelerated(label_scores(logits, index, axis))
    steps = {node.get_friendly_name() for node in other.get_ops() if node.get_type_name() == "Subtract"}
    done = [steps & layers for layers in executed(other)]
    assert max(map(len, done)) == 1
    assert set().union(*done) == steps


BEHIND = {
    "negation": ops.negative,
    "mean": lambda gather: ops.reduce_mean(gather, ops.constant(np.array([0, 1]))),
    "sum, then more": lambda gather: ops.relu(ops.reduce_sum(gather, ops.constant(1))),
    "cross-entropy": lambda gather: ops.divide(
        ops.reduce_sum(
            ops.select(parameter("m", [40, 9], np.bool_), ops.constant(np.float32(0)), ops.negative(gather)),
            ops.constant(np.array([0, 1])),
        ),
        ops.constant(np.float32(7)),
    ),
    "times -1": lambda gather: ops.multiply(ops.unsqueeze(gather, ops.constant(0)), ops.constant(np.float32(-1))),
    "moves": lambda gather: transpose(ops.unsqueeze(gather, ops.constant(0))),
}


@pytest.mark.parametrize("behind", BEHIND)
def test_labels_of_which_a_loss_is_made(behind, rng):
    model = label_scores([40, 100], [40, 9], 1, behind=BEHIND[behind])
    cases = []
    for special in (1, np.nan, np.inf, -np.inf, 3e38, 0.0):
        values = rng.standard_normal((40, 100)).astype(np.float32)
        values.reshape(-1)[::3] = special
        given = {"data": values, "i0": rng.integers(-100, 100, (40, 9)), "m": rng.random((40, 9)) < 0.3}
        cases.append([given[node.get_friendly_name()] for node in model.get_parameters()])
    _, summary = check_accelerated(model, *cases)
    assert summary.changes[0].done[0] == "before LogSoftmax"


def test_reasons_of_two_passes_are_both_said():
    summary = check_stays(label_scores([40, 100], [40, 51], 1), "gather-logits", "to-gather")
    assert summary.changes[0].reason == f"{MOST}; whether the index is in -100..99 is not known before it runs"


MOST = "LogSoftmax stays before it: it may not be less than half that is gathered"
REASONS = {"most": MOST, "arithmetic": "LogSoftmax stays before it: the arithmetic behind it may be fused"}
LOGSOFTMAX_STAYS = {
    "most": {"index": [40, 51]},
    "how many is open": {"index": [40, -1]},
    "rows are open": {"index": [-1, 9]},
    "sizes are open": {"logits": [-1, -1]},
    "along another axis": {"gathered_axis": 0, "index": [9, 100]},
    "none": {"index": [40, 0]},
    "arithmetic": {"behind": ops.relu},
    "arithmetic behind a move": {
        "behind": lambda gather: ops.multiply(ops.unsqueeze(gather, ops.constant(0)), ops.constant(np.float32(0.5)))
    },
    "not gathered": {"behind": lambda gather: ops.relu(gather.input_value(0).get_node())},
    "read by others": {"behind": lambda gather: ops.concat([gather, gather.input_value(0).get_node()], 1)},
}


@pytest.mark.parametrize("name", LOGSOFTMAX_STAYS)
def test_where_logsoftmax_stays(name):
    model = label_scores(**{"logits": [40, 100], "index": [40, 9], "axis": 1, **LOGSOFTMAX_STAYS[name]})
    check_stays(model, "gather-logits", reason=REASONS.get(name, ""))


def test_labels_of_open_sizes_that_are_known_to_be_the_same(rng):
    logits, labels = parameter("data", [-1, -1, 100]), parameter("i", [1, 1, 9], np.int64)
    zero, one, two = (ops.constant(np.array([n])) for n in range(3))
    sizes = ops.slice(ops.shape_of(logits), zero, two, one)
    index = ops.broadcast(labels, ops.concat([sizes, ops.constant(np.array([9]))], 0), broadcast_spec="BIDIRECTIONAL")
    model = model_of(ops.gather_elements(ops.log_softmax(logits, 2), index, 2))
    sizes, labels = ((3, 20), (1, 1), (2, 0)), rng.integers(0, 100, (1, 1, 9))
    _, summary = check_accelerated(model, *([rng.random((*size, 100), np.float32), labels] for size in sizes))
    assert summary.changes[0].done[0] == "before LogSoftmax"


def test_a_small_logsoftmax_stays(monkeypatch):
    monkeypatch.setattr(costs, "SMALL", 4000 // 64 + 1)
    model = label_scores([40, 100], [40, 9], 1)
    assert check_stays(model, "gather-logits").changes[0].reason == "LogSoftmax stays before it: too small to gain"


def test_gathers_of_another_model_that_shares_nodes(rng):
    probabilities, index = ops.log_softmax(parameter("data", [40, 100]), 1), parameter("i", [40, 9], np.int64)
    gathers = [ops.gather_elements(probabilities, index, 1) for _ in range(2)]
    one, other = (model_of(gather) for gather in gathers)
    summary = ov_gather.accelerate(one)
    assert [change.done[0] for change in summary.changes] == ["before LogSoftmax"]
    check_same(one, other, [rng.random((40, 100), np.float32), rng.integers(0, 100, (40, 9))])

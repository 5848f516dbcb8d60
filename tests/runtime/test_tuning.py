"""`accelerate --tune`: what gains is kept, whatever the clock says; the clock itself is replaced."""

import numpy as np
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import check_same, model_of, operations, parameter
from ov_gather.bench import tuning
from ov_gather.bench.model import inputs_for

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")


def two_kinds():
    """A model with a gather of rows that is clamped, and one along the last axis of what that gives."""
    rows = ops.broadcast(ops.clamp(parameter("i", [9, 1], np.int64), 0, 6), ops.constant(np.array([9, 5])))
    first = ops.gather_elements(parameter("data", [7, 5]), rows, 0)
    second = ops.gather_elements(first, parameter("j", [9, 3], np.int64), 1)  # reads the first, so that it comes later
    first.set_friendly_name("rows")
    second.set_friendly_name("elements")
    return model_of(first, second)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("gains", "kept", "ratio"),
    [
        ([1.5, 1.2, 1.8], {"Gather-8", "ov_gather.GatherElements"}, 1.8),
        ([0.9, 1.2, 1.2], {"GatherElements-6", "ov_gather.GatherElements"}, 1.2),
        ([1.5, 1.0, 1.5], {"Gather-8", "GatherElements-6"}, 1.5),
        ([0.9, 0.9], {"GatherElements-6"}, 1.0),
        ([1.5, 1.2, 0.99], {"GatherElements-6"}, 1.0),
    ],
    ids=["both gain", "the second", "the first", "neither", "together they lose"],
)
def test_what_gains_is_kept(monkeypatch, gains, kept, ratio):
    left = iter(gains)
    monkeypatch.setattr(tuning, "by_turns", lambda slow, fast, seconds: [(next(left), 1.0)])
    model = two_kinds()
    tuned = model.clone()
    found = tuning.tune(tuned, 1, {})
    assert {name for name in operations(tuned) if "Gather" in name} == kept
    assert found.ratio == ratio
    assert [trial.ratio for trial in found.trials] == gains[:2]
    assert next(left, None) is None
    check_same(model, tuned, inputs_for(model, {}))


def test_corrections_are_not_timed(monkeypatch):
    """Whatever it costs, what a MatMul would read in the wrong layout is folded."""
    monkeypatch.setattr(tuning, "by_turns", lambda slow, fast, seconds: pytest.fail("timed"))
    rows = ops.gather_elements(ops.constant(np.ones((4, 3, 5), np.float32)), ops.constant(np.zeros((4, 3, 5), np.int64)), 0)
    model = model_of(ops.einsum([parameter("x", [2, 7, 3, 5]), rows], "binh,tnh->bnit"))
    found = tuning.tune(model, 1, {})
    assert (found.trials, found.summary.changes[0].corrects) == ((), True)
    assert "GatherElements-6" not in operations(model)


def test_layers_that_are_left():
    model = two_kinds()
    summary = ov_gather.accelerate(model, leave=["rows"])
    assert {change.layer: (bool(change.done), change.reason) for change in summary.changes} == {
        "rows": (False, "it was to stay as it is"),
        "elements": (True, ""),
    }


@pytest.mark.parametrize("way", ["made up", "given", "bounded"])
def test_inputs_of_open_shapes(way):
    data = parameter("data", ["2..8", -1] if way == "bounded" else [-1, -1])
    model = model_of(ops.gather_elements(data, parameter("i", [-1, -1], np.int64), 0))
    given = {"i": np.array([[3, 1]])} if way == "given" else {}
    if way == "given":
        given["data"] = np.zeros((4, 2), np.float32)
    arrays = dict(zip([node.get_friendly_name() for node in model.get_parameters()], inputs_for(model, given), strict=True))
    shape = {"made up": (128, 128), "given": (4, 2), "bounded": (8, 128)}[way]
    assert arrays["data"].shape == shape
    assert arrays["i"].max() < shape[0]
    if way == "given":
        assert np.array_equal(arrays["i"], [[3, 1]])


def test_sizes_that_do_not_fit_are_an_error():
    model = model_of(ops.add(parameter("a", [-1, 5]), parameter("b", [-1, 5])))
    with pytest.raises(ValueError, match="do not fit the model; give some by --input"):
        inputs_for(model, {"a": np.zeros((4, 5), np.float32)})

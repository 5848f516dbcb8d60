"""The inputs, outputs and values of two models that correspond, and the iterations of two bodies."""

import numpy as np
import pytest

from ov_gather.crosscheck.bisect.bodies import ITERATION, ObservedBody, Sliced
from ov_gather.crosscheck.bisect.correspondence import correspond, pair_inputs, pair_outputs
from ov_gather.crosscheck.bisect.graphs import ValueGraph
from ov_gather.graph.protocol import Node


def onnx_like(outputs=("r",), **shapes):
    """x -> a -> r."""
    nodes = [Node("Sin", "", "sin", (), ("x",), ("a",)), Node("Relu", "", "relu", (), ("a",), ("r",))]
    names = {value: [value] for value in "xar"}
    return ValueGraph(nodes, {"x": "x"}, {name: name for name in outputs}, {}, names, shapes)


def ir_like(names, output_name="r", **shapes):
    """x -> one value with several names."""
    x, value = (0, 0), (1, 1)
    shape = {value: shapes["shape"]} if "shape" in shapes else {}
    return ValueGraph(
        [Node("Sin", "", "sin", (), (x,), (value,))], {"x": x}, {output_name: value}, {}, {x: ["x"], value: names}, shape
    )


@pytest.mark.parametrize("names", [["a", "r"], ["r", "a"]])
def test_of_several_names_the_last_value_counts(names):
    reference, model = onnx_like(), ir_like(names, names[0])
    assert pair_outputs(reference, model, only_named=False) == {(1, 1): "r"}
    assert correspond(reference, model, {"x": "x"}, {}).reference == {(0, 0): "x", (1, 1): "r"}


@pytest.mark.parametrize("names", [["a", "r"], ["r", "a"]])
def test_an_output_of_the_reference_goes_first(names):
    assert pair_outputs(onnx_like(outputs=["a"]), ir_like(names, names[0]), only_named=False) == {(1, 1): "a"}


def test_a_value_inside_may_be_an_output():
    assert pair_outputs(onnx_like(), ir_like(["a"], "a"), only_named=True) == {(1, 1): "a"}


def test_outputs_by_position():
    reference, model = onnx_like(), ir_like([], "other")
    assert pair_outputs(reference, model, only_named=False) == {(1, 1): "r"}
    with pytest.raises(ValueError, match="no output has the same name: the reference has r, the model other"):
        pair_outputs(reference, model, only_named=True)
    with pytest.raises(ValueError, match="no output has the same name"):
        pair_outputs(onnx_like(outputs=["a", "r"]), model, only_named=False)


def test_inputs_by_name_or_position():
    reference = onnx_like()
    assert pair_inputs(reference, ir_like([])) == {"x": "x"}
    other = ValueGraph([], {"p": (0, 0)}, {})
    assert pair_inputs(reference, other) == {"p": "x"}
    named = ValueGraph([], {"p": (0, 0)}, {}, {}, {(0, 0): ["x"]})
    assert pair_inputs(reference, named) == {"p": "x"}
    with pytest.raises(ValueError, match="the reference has x, the model p, q"):
        pair_inputs(reference, ValueGraph([], {"p": (0, 0), "q": (1, 0)}, {}))
    with pytest.raises(ValueError, match="the reference has x, the model x, q"):
        pair_inputs(reference, ValueGraph([], {"x": (0, 0), "q": (1, 0)}, {}))


@pytest.mark.parametrize(
    ("ours", "theirs", "fits"),
    [
        ((2, 3), (2, 3), True),
        ((1, 2, 3), (2, 3), True),
        ((2, 3), (3, 2), False),
        ((-1, 3), (5, 5), True),
        (None, (2,), True),
        ((5, 5), (-1, 3), True),
        ((5, 5), None, True),
        ((), (5,), True),
        ((5,), (), True),
        ((5, 1), (1, 5), True),
        ((1, 1), (1,), True),
        ((1, 2), (1,), False),
        ((2,), (2, 2), False),
    ],
)
def test_shapes_must_fit(ours, theirs, fits):
    """What is open fits, and so do dimensions of one."""
    found = correspond(onnx_like(r=theirs), ir_like(["r"], shape=ours), {"x": "x"}, {})
    assert ((1, 1) in found.reference) == fits


def test_slices():
    array = np.arange(12).reshape(2, 6)
    whole = Sliced(array, 1, 2)
    assert whole.count == 3
    assert whole[1].tolist() == [[2, 3], [8, 9]]
    assert Sliced(array, 1, 2, is_reversed=True)[0].tolist() == [[4, 5], [10, 11]]
    rows = Sliced(array, 0, 0)
    assert rows.count == 2
    assert rows[1].tolist() == [6, 7, 8, 9, 10, 11]


def test_iterations_of_a_body():
    pieces = Sliced(np.arange(3), 0, 0)
    inputs = {"s": np.array(0), "p": pieces[0], "i": np.array(0), "c": np.array(7)}
    sources = {"s": "outside", "p": "sliced", "i": ITERATION, "c": "constant"}
    body = ObservedBody(None, inputs, sources, 3, 0, {"p": pieces}, {"s": "next"}, "goes on")
    found = {"next": np.array(5), "goes on": np.array(True)}
    states = body.next_states(found)
    assert states == {"s": 5}
    second = body.following(states)
    assert {name: int(array) for name, array in second.inputs.items()} == {"s": 5, "p": 1, "i": 1, "c": 7}
    assert body.next_states({**found, "goes on": np.array(False)}) is None
    third = second.following(states)
    assert third.number == 2
    assert third.next_states(found) is None

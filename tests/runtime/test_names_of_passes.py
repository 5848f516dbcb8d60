"""`accelerate` and `harden` write no two layers of one name into a graph."""

from collections import Counter

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import parameter
from ov_gather.acceleration.graph import walk
from ov_gather.acceleration.names import unique_names

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")


def names(model):
    return Counter((place, node.get_friendly_name()) for place, node in walk(model))


KINDS, COUNT = ("Constant", "Convert", "Gather", "Minimum", "ShapeOf"), 200


def next_names():
    """The names that OpenVINO will give to nodes that are made after one node for each of these names."""
    number = int(ops.constant(0).get_name().rpartition("_")[2]) + COUNT * len(KINDS)
    return [f"{kind}_{number + i}" for i in range(COUNT) for kind in KINDS]


def model_with_taken_names():
    """Shapes, look-ups and a repeated constant index; other layers have the names that new nodes would get."""
    data = parameter("data", [-1, 6])
    rows, ids = parameter("rows", [-1, 1], np.int64), parameter("ids", [5], np.uint8)
    index = ops.broadcast(rows, ops.concat([ops.gather(ops.shape_of(rows), [0], 0), ops.constant([6])], 0))
    shared = ops.constant(np.repeat([[0], [2], [1]], 6, 1), name="shared")
    first, second = (ops.gather_elements(data, where, 0) for where in (index, shared))
    third = ops.gather(data, ids, ops.constant(0))
    value = ops.add(second, ops.convert(shared, "f32"))
    chain = data
    for name in next_names():
        chain = ops.relu(chain, name=name)
    return ov.Model([first, value, third, chain], [data, rows, ids], "model")


CHANGES = [(ov_gather.accelerate, {"portable": portable}) for portable in (False, True)]
CHANGES += [(ov_gather.harden, {"policy": policy}) for policy in ("raise", "clamp", "zero")]
CHANGES += [(ov_gather.harden, {"policy": "raise", "portable": True})]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("change", "options"), CHANGES)
def test_no_name_is_given_twice(change, options, tmp_path):
    model = model_with_taken_names()
    before = names(model)
    assert change(model, **options).changed
    assert set(names(model).values()) == {1}
    assert {name for name in before if "Result" in name[1] or "Relu" in name[1]} <= names(model).keys()
    ov.serialize(model, tmp_path / "m.xml")
    assert ov_gather.validate(tmp_path / "m.xml", select=("OVG114",)) == []


def test_nodes_that_were_there_keep_their_names():
    """A new node whose given name is taken is renamed before one that OpenVINO has named; duplicates of the model stay."""
    data = parameter("data", [3])
    first, second = ops.relu(data, name="same"), ops.abs(data, name="same")
    model = ov.Model([ops.add(first, second, name="sum")], [data], "model")
    with unique_names(model):
        given = ops.exp(model.get_results()[0].input_value(0), name="same")
        unnamed = ops.tanh(given)
        again = ops.sin(unnamed, name=unnamed.get_name())
        again.set_friendly_name(unnamed.get_name())
        model.get_results()[0].input(0).replace_source_output(again.output(0))
    assert [first.get_friendly_name(), second.get_friendly_name()] == ["same", "same"]
    assert given.get_friendly_name() == "same_1"
    assert again.get_friendly_name() == unnamed.get_name()
    assert unnamed.get_friendly_name() == f"{unnamed.get_name()}_1"

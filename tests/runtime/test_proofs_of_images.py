"""Proofs of models whose batch goes through operations on images, or through branches: sizes that stay the same are known."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.index_sites import tensor
from helpers.openvino_models import counted, named, size_of
from helpers.range_analysis import Names, by_ir, complaints
from ov_gather import prove
from ov_gather.runtimes.session import Session

ZEROS = np.float32(0)


def convolved(x):
    return ops.convolution(x, np.zeros((5, 4, 2, 2), np.float32), [2, 2], [0, 0], [0, 0], [1, 1])


def convolved_in_groups(x):
    return ops.group_convolution(x, np.zeros((2, 3, 2, 1, 1), np.float32), [1, 1], [0, 0], [0, 0], [1, 1])


def batch_and(x, *sizes):
    return ops.concat([ops.gather(ops.shape_of(x), [0], 0), [*sizes]], 0)


def chosen(condition):
    """An If whose branches have the sizes of x both, or whose second one is never executed."""
    is_constant = condition.get_type_name() == "Constant"

    def last(other):
        return [ops.convert(ops.non_zero(other) if is_constant else ops.abs(other), "f32")]

    return lambda x: if_of(condition, [x], lambda one: [ops.negative(one)], last)[0]


MODELS = {
    "a convolution": convolved,
    "a convolution in groups": convolved_in_groups,
    "the places of the greatest": lambda x: ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(1),
    "an average": lambda x: ops.avg_pool(x, [2, 2], [0, 0], [0, 0], [2, 2], False),
    "another size of two axes": lambda x: ops.interpolate(x, [3, 7], "nearest", "sizes", axes=[2, 3]),
    "another shape": lambda x: ops.interpolate(x, batch_and(x, 4, 2, 2), "nearest", "sizes"),
    "points of an image": lambda x: ops.grid_sample(x, ops.broadcast(ZEROS, batch_and(x, 3, 2, 2)), {"align_corners": False}),
    "a rectified image": ops.relu,
    "the branch of a constant": chosen(ops.constant(True)),
}


def model_of(make, *conditions):
    """The rows of what an operation makes of x are gathered, all of the batch."""
    x = named("x", "f32[?,4,4,4]")
    made = make(x)
    return ov.Model([ops.gather(made, counted(size_of(x)), 0), ops.convert(made, "f32")], [x, *conditions], "m")


@pytest.mark.parametrize("name", MODELS)
def test_the_batch_is_still_the_batch(name):
    model = model_of(MODELS[name])
    made = model.outputs[1].get_node().input_value(0).get_node().input_value(0)
    claims, verdicts = by_ir(model)
    assert {verdict.status for verdict in verdicts.values()} == {"proved"}
    assert {proof.status for proof in prove(model)} == {"proved"}
    names = Names()
    image = np.ones((3, 4, 4, 4), np.float32)
    names.set_bounds(claims[tensor(model.get_parameters()[0].output(0))], image)
    _, found = Session(ov.Core(), model)([image])
    assert list(complaints(claims[tensor(made)], found, names)) == []


def test_branches_with_the_same_sizes():
    condition = ops.parameter([], np.bool_)
    assert {proof.status for proof in prove(model_of(chosen(condition), condition))} == {"proved"}


def test_a_frame_changes_the_batch():
    def framed(x):
        return ops.interpolate(x, [3, 7], "nearest", "sizes", pads_begin=[1, 0, 0, 0], pads_end=[0] * 4, axes=[2, 3])

    assert "proved" not in {proof.status for proof in prove(model_of(framed)) if proof.axis_size != 4}

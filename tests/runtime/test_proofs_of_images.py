"""Proofs of models whose batch goes through operations on images, or through branches: sizes that stay the same are known."""

from collections.abc import Callable

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.index_sites import tensor
from helpers.range_analysis import Names, by_ir, complaints
from ov_gather import prove
from ov_gather.runtimes.session import Session


def integers(*values: int) -> ov.Node:
    return ops.constant(np.array(values, np.int64))


def convolved(x: ov.Node) -> ov.Output:
    filters = ops.constant(np.zeros((5, 4, 2, 2), np.float32))
    return ops.convolution(x, filters, [2, 2], [0, 0], [0, 0], [1, 1]).output(0)


def convolved_in_groups(x: ov.Node) -> ov.Output:
    filters = ops.constant(np.zeros((2, 3, 2, 1, 1), np.float32))
    return ops.group_convolution(x, filters, [1, 1], [0, 0], [0, 0], [1, 1]).output(0)


def greatest_places(x: ov.Node) -> ov.Output:
    return ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(1)


def averaged(x: ov.Node) -> ov.Output:
    return ops.avg_pool(x, [2, 2], [0, 0], [0, 0], [2, 2], False).output(0)


def resized_along_two_axes(x: ov.Node) -> ov.Output:
    return ops.interpolate(x, integers(3, 7), "nearest", "sizes", axes=integers(2, 3)).output(0)


def resized_to_a_shape(x: ov.Node) -> ov.Output:
    batch = ops.gather(ops.shape_of(x), integers(0), ops.constant(0))
    return ops.interpolate(x, ops.concat([batch, integers(4, 2, 2)], 0), "nearest", "sizes").output(0)


def sampled(x: ov.Node) -> ov.Output:
    grid = ops.broadcast(
        ops.constant(np.float32(0)),
        ops.concat([ops.gather(ops.shape_of(x), integers(0), ops.constant(0)), integers(3, 2, 2)], 0),
    )
    return ops.grid_sample(x, grid, {"align_corners": False}).output(0)


def chosen(condition: ov.Node) -> Callable[[ov.Node], ov.Output]:
    """An If whose branches have the sizes of x both, or whose second one is never executed."""

    def make(x: ov.Node) -> ov.Output:
        is_constant = condition.get_type_name() == "Constant"

        def last(other: ov.Node) -> list[ov.Node]:
            return [ops.convert(ops.non_zero(other) if is_constant else ops.abs(other), "f32")]

        return if_of(condition, [x], lambda one: [ops.negative(one)], last)[0]

    return make


def rectified(x: ov.Node) -> ov.Output:
    return ops.relu(x).output(0)


MODELS: dict[str, Callable[[ov.Node], ov.Output]] = {
    "a convolution": convolved,
    "a convolution in groups": convolved_in_groups,
    "the places of the greatest": greatest_places,
    "an average": averaged,
    "another size of two axes": resized_along_two_axes,
    "another shape": resized_to_a_shape,
    "points of an image": sampled,
    "a rectified image": rectified,
    "the branch of a constant": chosen(ops.constant(True)),
}


def model_of(make: Callable[[ov.Node], ov.Output], *conditions: ov.Node) -> ov.Model:
    """The rows of what an operation makes of x are gathered, all of the batch."""
    x = ops.parameter([-1, 4, 4, 4], np.float32)
    x.output(0).set_names({"x"})
    made = make(x)
    batch = ops.squeeze(ops.gather(ops.shape_of(x), integers(0), ops.constant(0)), integers(0))
    rows = ops.range(ops.constant(np.int64(0)), batch, ops.constant(np.int64(1)), "i64")
    return ov.Model([ops.gather(made, rows, ops.constant(0)), ops.convert(made, "f32")], [x, *conditions], "m")


@pytest.mark.parametrize("name", MODELS)
def test_the_batch_is_still_the_batch(name: str) -> None:
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


def test_branches_with_the_same_sizes() -> None:
    condition = ops.parameter([], np.bool_)
    assert {proof.status for proof in prove(model_of(chosen(condition), condition))} == {"proved"}


def test_a_frame_changes_the_batch() -> None:
    def framed(x: ov.Node) -> ov.Output:
        return ops.interpolate(
            x, integers(3, 7), "nearest", "sizes", pads_begin=[1, 0, 0, 0], pads_end=[0] * 4, axes=integers(2, 3)
        ).output(0)

    assert "proved" not in {proof.status for proof in prove(model_of(framed)) if proof.axis_size != 4}

"""What `prove` requires of the sizes of open dimensions: as little as possible, and nothing where no index is read."""

import re

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.openvino_models import counted, looked_up, made_of, number, size_of
from ov_gather import guard, harden, prove
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.session import Session

LIMIT = "in bounds if dim(ids, 0) <= dim(mask, 0)"


def flat_rows(mask, ids):
    """A common factor of both sizes does not matter."""
    places = counted(ops.multiply(size_of(ids), size_of(mask, 1)))
    return ops.gather(ops.reshape(mask, [-1], False), places, number(0))


def greatest(x, shape):
    """The place of the greatest element of an empty axis is whatever lies in memory, but it may never be used."""
    place = ops.topk(x, number(1), 0, "max", "value").output(1)
    return ops.gather(x, ops.broadcast(place, shape), number(0))


@pytest.mark.parametrize(
    ("make", "inputs", "requires", "reason"),
    [
        (lambda x: looked_up(130, ops.add(counted(size_of(x, 1)), number(2))), "x", {"dim(x, 1)": (None, 128)}, ""),
        (lambda mask, ids: ops.gather(mask, counted(size_of(ids)), number(0)), "mask ids", None, LIMIT),
        (flat_rows, "mask ids", None, LIMIT),
        (lambda x: greatest(x, [3]), "line", {"dim(line, 0)": (1, None)}, ""),
        (lambda x: greatest(x, ops.shape_of(x)), "line", {}, ""),
    ],
    ids=["a table of positions", "rows of another input", "a common factor", "what is read", "what is not read"],
)
def test_what_is_required(make, inputs, requires, reason):
    proof = prove(made_of(make, **{name: "f32[?]" if name == "line" else "f32[?,?]" for name in inputs.split()}))[-1]
    assert proof.status == ("proved" if requires == {} else "conditional")
    assert requires is None or dict(proof.requires) == requires
    assert reason in proof.reason


def sevens(x):
    """An index of 7 for each element of x; OpenVINO leaves one if x has none, but arithmetic follows."""
    return ops.broadcast(number(7), ops.shape_of(x))


LEFT = {
    "a remainder": lambda x: ops.floor_mod(sevens(x), size_of(x)),
    "from the last": lambda x: ops.subtract(ops.subtract(size_of(x), number(1)), ops.floor_mod(sevens(x), size_of(x))),
    "places": lambda x: ops.reshape(ops.non_zero(ops.add(sevens(x), number(1))), number([-1]), False),
    "numbers": lambda x: ops.subtract(ops.cum_sum(ops.minimum(sevens(x), number(1)), number(0)), number(1)),
}


@pytest.mark.parametrize("is_in_memory", [True, False])
@pytest.mark.parametrize("make", LEFT.values(), ids=LEFT)
def test_an_index_that_is_left_of_a_broadcast_to_nothing(make, is_in_memory, tmp_path):
    """For no elements the plugin has an index of an axis of size 0: a request must have one, and `harden` checks that."""
    model = made_of(lambda x: (ops.gather(x, make(x), number(0), name="site"), make(x)), x="f32[?]")
    empty = np.zeros(0, np.float32)
    path = tmp_path / "model.xml"
    ov.serialize(model, path)
    (proof,) = (one for one in prove(model if is_in_memory else path) if one.layer == "site")
    assert (proof.status, proof.requires) == ("conditional", {"dim(x, 0)": (1, None)})
    with pytest.raises(ValueError, match=re.escape("dim(x, 0) = 0 is out of bounds")):
        guard(model)({"x": empty})
    _, indices = Session(ov.Core(), model)([empty])
    assert indices.size
    harden(model, policy="clamp")
    with pytest.raises(RefusedError):
        Session(ov.Core(), model)([empty])


def test_an_index_into_a_table_may_be_left():
    """It is one of those that other requests have."""
    model = made_of(lambda x: looked_up(9, ops.add(sevens(x), number(1))), x="f32[?]")
    assert prove(model)[-1].status == "proved"


@pytest.mark.parametrize("step", [1, -1])
def test_what_is_counted_between_two_sizes_has_their_difference_as_its_size(step):
    def make(x):
        between = ops.range(*(ops.multiply(size_of(x), number(sign * step)) for sign in (-1, 1)), number(step), "i64")
        return ops.gather(between, ops.add(counted(size_of(x)), size_of(x)), number(0)), between

    model = made_of(make, x="f32[?]")
    assert prove(model)[-1].status == "proved"
    _, found = Session(ov.Core(), model)([np.zeros(3, np.float32)])
    np.testing.assert_array_equal(found, np.arange(-3 * step, 3 * step, step))


def along_both_axes(x, ids):
    """An index of 0, along one axis and the other: a GatherElements with an index has no empty axis but its own."""
    zeros = ops.clamp(ids, 0, 0)
    return [ops.gather_elements(x, zeros, axis, name=f"axis {axis}") for axis in (0, 1)]


def elements_and_rows(x, ids):
    """An index of 0, or of 1000 if the rows are empty: only GatherElements then has no index."""
    far = ops.multiply(ops.subtract(number(1), ops.minimum(size_of(x, 1), number(1))), number(1000))
    indices = ops.broadcast(far, ops.shape_of(ids))
    return [ops.gather_elements(x, indices, 0, name="elements"), ops.gather(x, indices, number(0), name="rows")]


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize(
    ("make", "needed"),
    [
        (along_both_axes, {"axis 0": ["dim(x, 0)"], "axis 1": ["dim(x, 1)"]}),
        (elements_and_rows, {"elements": ["dim(x, 0)"], "rows": ["dim(x, 0)", "dim(x, 1)"]}),
    ],
)
def test_sites_with_the_same_operands_have_conditions_of_their_own(make, needed, is_reversed):
    model = made_of(lambda x, ids: make(x, ids)[:: -1 if is_reversed else 1], x="f32[?,?]", ids="i64[?,?]")
    proofs = {proof.layer: dict(proof.requires) for proof in prove(model) if proof.layer in needed}
    assert proofs == {layer: dict.fromkeys(dims, (1, None)) for layer, dims in needed.items()}

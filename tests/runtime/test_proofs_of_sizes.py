"""Proofs about sizes: which ones stay the same through operations on images and branches, and which may wrap around."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.index_sites import tensor
from helpers.openvino_models import counted, looked_up, made_of, named, number, size_of
from helpers.range_analysis import Symbols, by_ir, complaints
from helpers.saved_models import parsed
from ov_gather import harden, prove
from ov_gather.converters import prove_onnx
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.session import Session

TABLE = np.arange(12, dtype=np.float32).reshape(6, 2)


def up_to_five(index):
    return ops.gather(ops.constant(TABLE), ops.minimum(index, number(5)), number(0))


def product(x, y):
    return ops.multiply(size_of(x), size_of(y))


def area(x):
    return ops.multiply(size_of(x), size_of(x, 1))


@pytest.mark.parametrize("step", [-2, -1, 1, 2])
@pytest.mark.parametrize("stop", [None, -3, 0, 3])
@pytest.mark.parametrize("start", [None, -3, 0, 3])
def test_the_size_of_a_slice_is_bounded_by_its_ends_in_both_directions(start, stop, step):
    def sliced(x):
        ends, masks = ([end or 0] for end in (start, stop)), ([end is None] for end in (start, stop))
        return ops.strided_slice(x, *(ops.constant(np.int64(end)) for end in ends), ops.constant(np.int64([step])), *masks)

    model = made_of(lambda x: looked_up(6, size_of(sliced(x))), x="u8[?]")
    (proof,) = [proof for proof in prove(model) if proof.axis_size == 6]
    most = max(len(range(size)[start:stop:step]) for size in range(20))
    assert proof.status != "proved" or most <= 5


def test_a_product_of_sizes_of_two_inputs_may_wrap_around():
    wrapping = made_of(lambda x, y: up_to_five(product(x, y)), x="u8[?,2]", y="u8[?]")
    (proof,) = [proof for proof in prove(wrapping) if proof.axis_size == 6]
    assert (proof.status, dict(proof.requires)) == ("conditional", {"dim(x, 0) * dim(y, 0)": (None, 2**31 - 1)})
    assert proof.reason == "in bounds if dim(x, 0) * dim(y, 0) <= 2147483647"
    inputs = [np.zeros((65536, 2), np.uint8), np.zeros(32768, np.uint8)]
    index = ov.Model([wrapping.get_results()[0].input_value(0).get_node().input_value(1)], wrapping.get_parameters(), "i")
    (found,) = Session(ov.Core(), index)(inputs)
    assert found == -(2**31)
    harden(wrapping, policy="clamp")
    (found,) = Session(ov.Core(), wrapping)(inputs)
    assert found.tolist() in TABLE.tolist()


def narrowed_to_bytes(x):
    return ops.convert(ops.minimum(ops.convert(size_of(x), "u8"), number(5, np.uint8)), "i64")


@pytest.mark.parametrize(
    ("index", "inputs", "requires"),
    [
        (lambda x: ops.multiply(size_of(x), number(2**20)), {"x": "u8[?]"}, {"dim(x, 0)": (None, 2047)}),
        (
            lambda x, y: ops.multiply(counted(size_of(x)), size_of(y)),
            {"x": "u8[?]", "y": "u8[?]"},
            {"dim(x, 0) * dim(y, 0)": (None, 2**31 - 1)},
        ),
        (area, {"x": "u8[?,?,?]"}, {"dim(x, 2)": (1, None)}),
        (narrowed_to_bytes, {"x": "u8[?]"}, {"dim(x, 0)": (None, 255)}),
        (lambda x, y: ops.add(area(x), area(y)), {"x": "u8[?,?]", "y": "u8[?,?]"}, None),
    ],
    ids=["a power of two", "counted times a size", "a part of a count", "narrowed to bytes", "a sum of counts"],
)
def test_a_condition_says_for_which_sizes_nothing_wraps_around(index, inputs, requires):
    proof = prove(made_of(lambda *given: up_to_five(index(*given)), **inputs))[-1]
    assert proof.status == "conditional"
    assert dict(proof.requires) == requires if requires else proof.requires


def places_in_a_flat_input(x):
    return ops.gather(ops.reshape(x, [-1], False), counted(area(x)), number(0))


def places_in_a_padded_input(x, row):
    """(rows + 1) * columns is no product of two names, and is the count of what is concatenated."""
    below = ops.broadcast(row, ops.concat([[1], ops.unsqueeze(size_of(x, 1), number(0))], 0))
    places = counted(ops.multiply(ops.add(size_of(x), number(1)), size_of(x, 1)))
    return ops.gather(ops.reshape(ops.concat([x, below], 0), [-1], False), places, number(0))


@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (lambda x: up_to_five(area(x)), {"x": "u8[?,?]"}),
        (places_in_a_flat_input, {"x": "u8[?,?]"}),
        # The states have 768 elements a token: batch * sequence is small, and so are sums of such products.
        (lambda x, y: up_to_five(ops.add(area(x), area(y))), {"x": "u8[?,?,768]", "y": "u8[?,?,768]"}),
        (places_in_a_padded_input, {"x": "u8[?,?]", "row": "u8[1,?]"}),
    ],
    ids=["the count of an input", "places in a flat input", "tokens of hidden states", "places in a padded input"],
)
def test_what_counts_the_elements_of_a_tensor_does_not_wrap_around(make, inputs):
    assert prove(made_of(make, **inputs))[-1].status == "proved"


@pytest.mark.parametrize(
    ("to", "status", "requires"), [(7, "proved", {}), (6, "conditional", {"dim(M) * dim(N)": (None, 2**31 - 1)})]
)
def test_onnx_wraps_around_in_32_bits_alone(to, status, requires):
    lines = f"a = Shape(x) b = Shape(y) i = Cast<to = {to}>(a) j = Cast<to = {to}>(b) p = Mul(i, j) five = Cast<to = {to}>(c) "
    text = f"(float[N] x, float[M] y) => (float[1,2] r) {{ {lines} k = Min(p, five) r = Gather(t, k) }}"
    found = prove_onnx(parsed(text, c=[5], t=TABLE))[-1]
    assert (found.status, dict(found.requires)) == (status, requires)


def test_onnx_non_zero_of_a_scalar_has_a_column():
    text = "(int64 x, float[3] w) => (float[A,B] y) { n = NonZero(x) i = Add(n, seven) y = Gather(w, i) }"
    (proof,) = prove_onnx(parsed(text, seven=7))
    assert proof.status != "proved"


@pytest.mark.parametrize("limit", [1, 4])
def test_a_condition_is_one_that_inputs_meet(limit):
    """p - (p - p) may be three times as far from 0 as p, as the analysis sees it."""
    proof = prove(made_of(lambda p: looked_up(limit, ops.subtract(p, ops.subtract(p, p))), p="i32[?]"))[-1]
    assert proof.status in ("conditional", "unknown")
    for low, high in proof.requires.values():
        assert low is None or high is None or low <= high


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
    names = Symbols()
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


def strided(x):
    """Every other window of 4, and every other of these."""
    once = ops.convolution(x, np.zeros((1, 1, 4), np.float32), [2], [0], [0], [1])
    return ops.convolution(once, np.zeros((1, 1, 1), np.float32), [2], [0], [0], [1])


def pooled(x):
    return ops.max_pool(x, [2], [1], [0], [0], [3]).output(0)


@pytest.mark.parametrize("windows", [strided, pooled])
def test_an_axis_holds_a_window_where_the_model_runs(windows, tmp_path):
    """An IR does not say that the first window is there, as a model in memory does: a shorter axis is refused."""
    model = made_of(lambda x: ops.gather(windows(x), number(0), number(2), name="site"), x="f32[1,1,?]")
    ov.serialize(model, tmp_path / "model.xml")
    for source in (model, tmp_path / "model.xml"):
        assert {proof.layer: proof.status for proof in prove(source)}["site"] == "proved"
    session = Session(ov.Core(), model)
    assert session([np.zeros((1, 1, 4), np.float32)])[0].shape == (1, 1)
    with pytest.raises(RefusedError):
        session([np.zeros((1, 1, 2), np.float32)])

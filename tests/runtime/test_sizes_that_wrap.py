"""What is computed of sizes may wrap around: `prove` tells when, and `harden` guards it."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.legalized import constant, model
from ov_gather import harden, prove
from ov_gather.converters import prove_onnx
from ov_gather.runtimes.session import Session

AXIS = ops.constant(np.int64(0))
TABLE = np.arange(12, dtype=np.float32).reshape(6, 2)


def named(name: str, *shape: int, dtype: type = np.uint8) -> ov.Node:
    node = ops.parameter(ov.PartialShape(list(shape)), dtype)
    node.output(0).set_names({name})
    return node


def size_of(x: ov.Node, axis: int) -> ov.Node:
    return ops.gather(ops.shape_of(x), ops.constant(np.int64(axis)), AXIS)


def number(value: int) -> ov.Node:
    return ops.constant(np.int64(value))


def counted(stop: ov.Node) -> ov.Node:
    return ops.range(number(0), stop, number(1), "i64")


def looked_up(index: ov.Node, *inputs: ov.Node) -> ov.Model:
    return ov.Model([ops.gather(ops.constant(TABLE), ops.minimum(index, number(5)), AXIS)], list(inputs), "m")


def product_of_two_inputs() -> ov.Model:
    x, y = named("x", -1, 2), named("y", -1)
    return looked_up(ops.multiply(size_of(x, 0), size_of(y, 0)), x, y)


def test_a_product_of_sizes_of_two_inputs_may_wrap_around() -> None:
    wrapping = product_of_two_inputs()
    (proof,) = [proof for proof in prove(wrapping) if proof.axis_size == 6]
    assert (proof.status, dict(proof.requires)) == ("conditional", {"dim(x, 0) * dim(y, 0)": (None, 2**31 - 1)})
    assert proof.reason == "in bounds if dim(x, 0) * dim(y, 0) <= 2147483647"
    index = ov.Model([wrapping.get_results()[0].input_value(0).get_node().input_value(1)], wrapping.get_parameters(), "i")
    (found,) = Session(ov.Core(), index)([np.zeros((65536, 2), np.uint8), np.zeros(32768, np.uint8)])
    assert found == -(2**31)


def test_harden_guards_what_may_wrap_around() -> None:
    wrapping = product_of_two_inputs()
    harden(wrapping, policy="clamp")
    (found,) = Session(ov.Core(), wrapping)([np.zeros((65536, 2), np.uint8), np.zeros(32768, np.uint8)])
    assert found.tolist() in TABLE.tolist()


def by_a_power_of_two() -> ov.Model:
    x = named("x", -1)
    return looked_up(ops.multiply(size_of(x, 0), number(2**20)), x)


def counted_times_a_size() -> ov.Model:
    x, y = named("x", -1), named("y", -1)
    return looked_up(ops.multiply(counted(size_of(x, 0)), size_of(y, 0)), x, y)


def a_part_of_a_count() -> ov.Model:
    x = named("x", -1, -1, -1)
    return looked_up(ops.multiply(size_of(x, 0), size_of(x, 1)), x)


def a_sum_of_counts() -> ov.Model:
    x, y = named("x", -1, -1), named("y", -1, -1)
    counts = (ops.multiply(size_of(z, 0), size_of(z, 1)) for z in (x, y))
    return looked_up(ops.add(*counts), x, y)


def narrowed_to_bytes() -> ov.Model:
    x = named("x", -1)
    kept = ops.minimum(ops.convert(size_of(x, 0), "u8"), ops.constant(np.uint8(5)))
    return looked_up(ops.convert(kept, "i64"), x)


@pytest.mark.parametrize(
    ("make", "requires"),
    [
        (by_a_power_of_two, {"dim(x, 0)": (None, 2047)}),
        (counted_times_a_size, {"dim(x, 0) * dim(y, 0)": (None, 2**31 - 1)}),
        (a_part_of_a_count, {"dim(x, 2)": (1, None)}),
        (narrowed_to_bytes, {"dim(x, 0)": (None, 255)}),
    ],
)
def test_a_condition_says_for_which_sizes_nothing_wraps_around(make, requires) -> None:
    proof = prove(make())[-1]
    assert (proof.status, dict(proof.requires)) == ("conditional", requires)


def test_a_sum_of_products_is_limited_by_its_products() -> None:
    proof = prove(a_sum_of_counts())[-1]
    assert proof.status == "conditional"
    assert proof.requires


def the_count_of_an_input() -> ov.Model:
    x = named("x", -1, -1)
    return looked_up(ops.multiply(size_of(x, 0), size_of(x, 1)), x)


def places_in_a_flat_input() -> ov.Model:
    x = named("x", -1, -1)
    flat = ops.reshape(x, ops.constant(np.array([-1])), False)
    places = counted(ops.multiply(size_of(x, 0), size_of(x, 1)))
    return ov.Model([ops.gather(flat, places, AXIS)], [x], "m")


def tokens_of_hidden_states() -> ov.Model:
    """The states have 768 elements a token: batch * sequence is small, and so are sums of such products."""
    ids, mask = named("ids", -1, -1, 768), named("mask", -1, -1, 768)
    tokens = [ops.multiply(size_of(x, 0), size_of(x, 1)) for x in (ids, mask)]
    return looked_up(ops.add(*tokens), ids, mask)


def places_in_a_padded_input() -> ov.Model:
    """(rows + 1) * columns is no product of two names, and is the count of what is concatenated."""
    x, row = named("x", -1, -1), named("row", 1, -1)
    padded = ops.concat([x, ops.broadcast(row, ops.concat([ops.constant([1]), ops.unsqueeze(size_of(x, 1), AXIS)], 0))], 0)
    flat = ops.reshape(padded, ops.constant(np.array([-1])), False)
    places = counted(ops.multiply(ops.add(size_of(x, 0), number(1)), size_of(x, 1)))
    return ov.Model([ops.gather(flat, places, AXIS)], [x, row], "m")


@pytest.mark.parametrize(
    "make", [the_count_of_an_input, places_in_a_flat_input, tokens_of_hidden_states, places_in_a_padded_input]
)
def test_what_counts_the_elements_of_a_tensor_does_not_wrap_around(make) -> None:
    assert prove(make())[-1].status == "proved"


def test_onnx_wraps_around_in_32_bits_alone() -> None:
    lines = "a = Shape(x) b = Shape(y) i = Cast<to = {0}>(a) j = Cast<to = {0}>(b) p = Mul(i, j) five = Cast<to = {0}>(c) "
    lines += "k = Min(p, five) r = Gather(t, k)"
    found = {}
    for to in (6, 7):
        proto = model("float[N] x, float[M] y) => (float[1,2] r)", lines.format(to))
        constant(np.array([5], np.int64), proto, "c")
        found[to] = prove_onnx(constant(TABLE, proto, "t"))[-1]
    assert (found[7].status, dict(found[7].requires)) == ("proved", {})
    assert (found[6].status, dict(found[6].requires)) == ("conditional", {"dim(M) * dim(N)": (None, 2**31 - 1)})


def test_onnx_non_zero_of_a_scalar_has_a_column() -> None:
    proto = model("int64 x, float[3] w) => (float[A,B] y)", "n = NonZero(x) i = Add(n, seven) y = Gather(w, i)")
    constant(np.array(7, np.int64), proto, "seven")
    (proof,) = prove_onnx(proto)
    assert proof.status != "proved"


@pytest.mark.parametrize("limit", [1, 4])
def test_a_condition_is_one_that_inputs_meet(limit: int) -> None:
    """p - (p - p) may be three times as far from 0 as p, as the analysis sees it."""
    p = named("p", -1, dtype=np.int32)
    index = ops.subtract(p, ops.subtract(p, p))
    proof = prove(ov.Model([ops.gather(ops.constant(np.zeros((limit, 2), np.float32)), index, AXIS)], [p], "m"))[-1]
    assert proof.status in ("conditional", "unknown")
    for low, high in proof.requires.values():
        assert low is None or high is None or low <= high

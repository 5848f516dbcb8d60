"""`prove` on little models as people write them: what is proved, and under which condition."""

import numpy as np
import openvino
import pytest
from openvino import Model
from openvino import opset13 as ops

from helpers.openvino_models import counted, looked_up, made_of, number, size_of
from ov_gather import harden, prove
from ov_gather.acceleration.graph import ours

I32, F32 = np.int32, np.float32


def embedding(ids):
    return looked_up(1000, ids)


def best(x):
    return ops.gather_elements(x, ops.topk(x, number(1), -1, "max", "value").output(1), 1)


def clamped_by_size(data, x):
    index = ops.maximum(ops.minimum(x, ops.subtract(size_of(data, kind="i32"), number(1, I32))), number(0, I32))
    return ops.gather(data, index, number(0))


def non_zeros(x, mask):
    hidden = ops.tanh(ops.select(mask, x, number(0, F32)))
    return ops.gather_nd(hidden, ops.transpose(ops.non_zero(hidden, "i32"), [1, 0]), 0)


def remainder_of_places(x):
    """PyTorch's front end writes x[i] so: a place plus the size, modulo the size, which is 0 only if there are no places."""
    size, places = size_of(x, kind="i32"), ops.squeeze(ops.non_zero(x, "i32"), number([0]))
    return ops.gather(x, ops.mod(ops.add(places, size), size), number(0))


def experts(chosen, depth=5):
    """Each index of those experts that are chosen at all goes into a tensor of its own, as where a loop was unrolled."""
    hot = ops.one_hot(chosen, number(depth), number(1), number(0), -1)
    is_used = ops.greater(ops.reduce_sum(ops.transpose(hot, [2, 1, 0]), [1, 2]), number(0))
    first, *_ = ops.split(ops.non_zero(is_used), number(1), 3).outputs()
    return looked_up(4, ops.squeeze(first, number([1])))


def positions_in_a_product(x, y):
    return ops.gather(ops.einsum([x, y], "ik,jk->ij"), counted(size_of(y, kind="i32"), I32), number(1))


def best_experts(x):
    return experts(ops.topk(x, number(2), -1, "max", "value").output(1))


def buckets_by_a_logarithm(x):
    """Relative positions as T5 counts them: up to 7 each has its own bucket, beyond the bucket grows by the logarithm."""
    far = ops.abs(ops.clamp(x, -100, 100))
    grown = ops.divide(ops.log(ops.divide(ops.convert(far, "f32"), number(8, F32))), number(np.log(16), F32))
    large = ops.add(ops.convert(ops.multiply(grown, number(8, F32)), "i32"), number(8, I32))
    return looked_up(16, ops.select(ops.less(far, number(8, I32)), far, ops.minimum(large, number(15, I32))))


def rows_from_the_end(x):
    """ScatterUpdate takes no negative indices, so that they are made positive."""
    index = ops.select(ops.less(x, number(0, I32)), ops.add(x, number(10, I32)), x)
    return ops.scatter_update(number(np.zeros(10), F32), index, number(np.zeros(3), F32), number(0))


def ours_in_lanes(kind, low, shape, **attributes):
    """Numbers of 64 bits in lanes are scattered along the axis of 7, by indices from `low` to 6."""

    def make(x):
        inputs = [number(np.zeros((3, 7, 2)), I32), ops.clamp(x, low, 6), number(np.zeros(shape), I32)]
        return ours(kind, [node.output(0) for node in inputs], {"reduction": "none", "lanes": "i64", **attributes})

    return make


def broadcast_to_none(shape, mode, work=""):
    """Executed on elements that ONNX and OpenVINO's shape inference lack."""

    def make(x):
        indices = ops.broadcast(x, number(shape), None, mode)
        if work:
            indices = getattr(ops, work.partition(" ")[0])(indices, number([1]))
        if work.endswith("reshape"):
            indices = ops.reshape(indices, number([-1]), False)
        return ops.gather(number(np.arange(3), F32), indices, number(0))

    return made_of(make, x="i64[1]")


CASES = {
    "an embedding": (made_of(embedding, ids="i64[1,8]"), "conditional", {"ids": (-1000, 999)}),
    "2 i + 1": (
        made_of(lambda x: looked_up(10, ops.add(ops.multiply(x, number(2, I32)), number(1, I32))), x="i32[3]"),
        "conditional",
        {"x": (-5, 4)},
    ),
    "the greatest element": (made_of(best, x="f32[2,7]"), "proved", {}),
    "the greatest element of an open axis": (made_of(best, x="f32[2,?]"), "conditional", {"dim(x, 1)": (1, None)}),
    "clamped by a size": (made_of(clamped_by_size, data="f32[?,4]", x="i32[?]"), "conditional", {"dim(data, 0)": (1, None)}),
    # Of larger numbers the plugin computes the remainder in float32, which may come out as large as the divisor, and larger.
    "a remainder by a size": (
        made_of(lambda y, x: ops.gather(y, ops.floor_mod(x, size_of(y, kind="i32")), number(0)), data="f32[?,4]", x="i32[?]"),
        "conditional",
        {"x": (-(2**24), 2**24), "dim(data, 0)": (1, None)},
    ),
    "the positions of an open axis": (
        made_of(lambda x: ops.gather(x, counted(size_of(x, 1, "i32"), I32), number(1)), x="f32[1,?,8]"),
        "proved",
        {},
    ),
    "where a mask is not zero": (made_of(non_zeros, x="f32[?,6]", mask="boolean[?,6]"), "proved", {}),
    "remainders of places": (made_of(remainder_of_places, x="f32[?]"), "proved", {}),
    "positions in a product": (made_of(positions_in_a_product, x="f32[?,4]", y="f32[?,4]"), "proved", {}),
    "experts": (made_of(best_experts, x="f32[6,4]"), "proved", {}),
    "experts of an open batch": (made_of(best_experts, x="f32[?,4]"), "conditional", {"dim(x, 0)": (1, None)}),
    "experts that are given": (made_of(lambda x: experts(x, 4), chosen="i64[6,2]"), "conditional", {"chosen": (0, 3)}),
    "buckets by a logarithm": (made_of(buckets_by_a_logarithm, x="i32[4]"), "proved", {}),
    "rows from the end": (made_of(rows_from_the_end, x="i32[3]"), "conditional", {"x": (-10, 9)}),
    "our scatter along the last axis": (
        made_of(ours_in_lanes("ScatterElements", -7, (3, 7, 2), axis=-1), x="i32[3,7]"),
        "proved",
        {},
    ),
    "our scatter along another axis": (
        made_of(ours_in_lanes("ScatterElements", 3, (3, 7, 2), axis=-2), x="i32[3,7]"),
        "refuted",
        {},
    ),
    "our scatter of tuples": (made_of(ours_in_lanes("ScatterND", 3, (9, 2)), x="i32[9,2]"), "refuted", {}),
    "no rows that are executed": (broadcast_to_none([0], "BIDIRECTIONAL"), "conditional", {"x": (-3, 2)}),
    "no columns that are executed": (broadcast_to_none([2, 0], "NUMPY", "add"), "conditional", {"x": (-4, 1)}),
    "one past the end": (
        made_of(lambda x: looked_up(5, ops.add(ops.clamp(ops.convert(x, "i32"), 0, 4), number(5, I32))), x="f32[5]"),
        "refuted",
        {},
    ),
    "the fifth row": (made_of(lambda x: ops.gather(x, [4], number(1)), x="f32[2,?]"), "conditional", {"dim(x, 1)": (5, None)}),
    "a clamped fraction": (
        made_of(lambda x: looked_up(10, ops.convert(ops.clamp(x, 0, 9.5), "i32")), x="f32[7]"),
        "proved",  # Clamp makes 0 of NaN
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_known_of_the_last_site(name):
    model, status, requires = CASES[name]
    (*_, proof) = prove(model)
    assert (proof.status, dict(proof.requires)) == (status, requires), proof


@pytest.mark.parametrize("name", CASES)
def test_a_saved_model_is_proved_as_the_model_itself(name, tmp_path):
    model = CASES[name][0]
    openvino.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
    assert [_comparable(proof) for proof in prove(tmp_path / "model.xml")] == [_comparable(proof) for proof in prove(model)]


def _comparable(proof):
    return proof.layer, proof.status, proof.axis_size, proof.requires


@pytest.mark.parametrize("work", ["", "add", "maximum", "multiply", "subtract", "add and reshape"])
@pytest.mark.parametrize("mode", ["BIDIRECTIONAL", "NUMPY"])
@pytest.mark.parametrize("shape", [[0], [2, 0]])
def test_no_executed_index_is_overlooked(shape, mode, work):
    """OpenVINO drops a Broadcast of one element to none, so that an index of 9 reads past the end."""
    model = broadcast_to_none(shape, mode, work)
    (proof,) = prove(model)
    gather = model.get_results()[0].input_value(0).get_node()
    executed = openvino.compile_model(Model([gather.input_value(1)], model.get_parameters()), "CPU")(np.array([9]))[0]
    assert executed.size == 0 or (executed > 2).all()
    assert executed.size == 0 or proof.status != "proved"


@pytest.mark.parametrize(("dtype", "largest", "rounded"), [(np.uint8, 255, 128), (np.int8, 127, 64), (np.uint8, 3, 2)])
def test_quotients_of_bytes_are_rounded_up(dtype, largest, rounded):
    def halved(x):
        return ops.convert(ops.divide(x, number(2, dtype)), "i32")

    x = "u8[?]" if dtype is np.uint8 else "i8[?]"
    compiled = openvino.compile_model(made_of(halved, x=x), "CPU")
    assert compiled(np.array([largest], dtype))[0] == [rounded]
    for size in (rounded, rounded + 1):
        model = made_of(lambda x, size=size: looked_up(size, halved(x)), x=x)
        (assumed,) = prove(model, assume={"x": (0, largest)})
        (proof,) = prove(model)
        (_, most) = proof.requires.get("x", (None, np.iinfo(dtype).max))
        assert (assumed.status == "proved") == (size > rounded), assumed
        assert size > rounded or proof.status == "unknown" or most < largest, proof
        assert bool(harden(model, assume={"x": (0, largest)}).guards) == (size == rounded)


def test_an_assumption_proves_what_depends_on_it():
    (proof,) = prove(CASES["an embedding"][0], assume={"ids": (0, 999)})
    assert proof.status == "proved"
    (*_, proof) = prove(CASES["the greatest element of an open axis"][0], assume={"dim(x, 1)": (1, None)})
    assert proof.status == "proved"


@pytest.mark.parametrize("assume", [{"idss": (0, 1)}, {"ids": (5, 4)}, {"dim(ids, 0)": (0, 1)}])
def test_a_wrong_assumption_is_refused(assume):
    with pytest.raises(ValueError, match="assume"):
        prove(CASES["an embedding"][0], assume=assume)


def test_an_open_rank_is_not_known():
    (proof,) = prove(made_of(lambda x, i: ops.gather(x, i, number(0)), x="f32[...]", i="i32[2]"))
    assert proof.status == "unknown"
    assert "rank" in proof.reason

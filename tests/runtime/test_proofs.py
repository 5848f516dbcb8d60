"""`prove` on little models as people write them: what is proved, and under which condition."""

from collections.abc import Callable

import numpy as np
import openvino
import pytest
from openvino import Model, PartialShape
from openvino import opset13 as ops

from ov_gather import harden, prove
from ov_gather.acceleration.graph import ours
from ov_gather.ranges.proofs import Proof

I32, F32 = np.int32, np.float32


def parameter(shape: object, dtype: type, name: str) -> openvino.Node:
    made = ops.parameter(shape, dtype, name)
    made.output(0).set_names({name})
    return made


def constant(values: object, dtype: type = np.int64) -> openvino.Node:
    return ops.constant(np.array(values, dtype))


def embedding() -> Model:
    ids = parameter([1, 8], np.int64, "ids")
    return Model([ops.gather(constant(np.zeros((1000, 4)), F32), ids, constant(0))], [ids])


def affine() -> Model:
    x = parameter([3], I32, "x")
    index = ops.add(ops.multiply(x, constant(2, I32)), constant(1, I32))
    return Model([ops.gather(constant(np.zeros(10), F32), index, constant(0))], [x])


def best(shape: list[int]) -> Model:
    x = parameter(shape, F32, "x")
    top = ops.topk(x, constant(1), -1, "max", "value")
    return Model([ops.gather_elements(x, top.output(1), 1)], [x])


def clamped_by_size() -> Model:
    data, x = parameter([-1, 4], F32, "data"), parameter([-1], I32, "x")
    size = ops.gather(ops.shape_of(data, "i32"), constant(0), constant(0))
    index = ops.maximum(ops.minimum(x, ops.subtract(size, constant(1, I32))), constant(0, I32))
    return Model([ops.gather(data, index, constant(0))], [data, x])


def remainder_by_size() -> Model:
    data, x = parameter([-1, 4], F32, "data"), parameter([-1], I32, "x")
    size = ops.gather(ops.shape_of(data, "i32"), constant(0), constant(0))
    return Model([ops.gather(data, ops.floor_mod(x, size), constant(0))], [data, x])


def positions() -> Model:
    x = parameter([1, -1, 8], F32, "x")
    size = ops.gather(ops.shape_of(x, "i32"), constant(1), constant(0))
    index = ops.range(constant(0, I32), size, constant(1, I32), "i32")
    return Model([ops.gather(x, index, constant(1))], [x])


def non_zeros() -> Model:
    x, mask = parameter([-1, 6], F32, "x"), parameter([-1, 6], np.bool_, "mask")
    hidden = ops.tanh(ops.select(mask, x, constant(0, F32)))
    where = ops.transpose(ops.non_zero(hidden, "i32"), constant([1, 0]))
    return Model([ops.gather_nd(hidden, where, 0)], [x, mask])


def remainder_of_places() -> Model:
    """PyTorch's front end writes x[i] so: a place plus the size, modulo the size, which is 0 only if there are no places."""
    x = parameter([-1], F32, "x")
    size = ops.gather(ops.shape_of(x, "i32"), constant(0), constant(0))
    places = ops.squeeze(ops.non_zero(x, "i32"), constant([0]))
    return Model([ops.gather(x, ops.mod(ops.add(places, size), size), constant(0))], [x])


def positions_in_a_product() -> Model:
    x, y = parameter([-1, 4], F32, "x"), parameter([-1, 4], F32, "y")
    product = ops.einsum([x, y], "ik,jk->ij")
    size = ops.gather(ops.shape_of(y, "i32"), constant(0), constant(0))
    index = ops.range(constant(0, I32), size, constant(1, I32), "i32")
    return Model([ops.gather(product, index, constant(1))], [x, y])


def choices(x: openvino.Node) -> openvino.Node:
    return ops.topk(x, constant(2), -1, "max", "value").output(1)


def experts(chosen: openvino.Output, depth: int = 5) -> openvino.Node:
    """Each index of those experts that are chosen at all goes into a tensor of its own, as where a loop was unrolled."""
    hot = ops.one_hot(chosen, constant(depth), constant(1), constant(0), -1)
    is_used = ops.greater(ops.reduce_sum(ops.transpose(hot, constant([2, 1, 0])), constant([1, 2])), constant(0))
    first, *_ = ops.split(ops.non_zero(is_used), constant(1), 3).outputs()
    return ops.gather(constant(np.zeros((4, 3)), F32), ops.squeeze(first, constant([1])), constant(0))


def experts_of(rows: int) -> Model:
    x = parameter([rows, 4], F32, "x")
    return Model([experts(choices(x))], [x])


def experts_that_are_given(depth: int) -> Model:
    chosen = parameter([6, 2], np.int64, "chosen")
    return Model([experts(chosen.output(0), depth)], [chosen])


def buckets_by_a_logarithm() -> Model:
    """Relative positions as T5 counts them: up to 7 each has its own bucket, beyond the bucket grows by the logarithm."""
    x = parameter([4], I32, "x")
    far = ops.abs(ops.clamp(x, -100, 100))
    grown = ops.divide(ops.log(ops.divide(ops.convert(far, "f32"), constant(8, F32))), constant(np.log(16), F32))
    large = ops.add(ops.convert(ops.multiply(grown, constant(8, F32)), "i32"), constant(8, I32))
    bucket = ops.select(ops.less(far, constant(8, I32)), far, ops.minimum(large, constant(15, I32)))
    return Model([ops.gather(constant(np.zeros(16), F32), bucket, constant(0))], [x])


def rows_from_the_end() -> Model:
    """ScatterUpdate takes no negative indices, so that they are made positive."""
    x = parameter([3], I32, "x")
    index = ops.select(ops.less(x, constant(0, I32)), ops.add(x, constant(10, I32)), x)
    return Model([ops.scatter_update(constant(np.zeros(10), F32), index, constant(np.zeros(3), F32), constant(0))], [x])


def one_past_the_end() -> Model:
    x = parameter([5], F32, "x")
    index = ops.add(ops.clamp(ops.convert(x, "i32"), 0, 4), constant(5, I32))
    return Model([ops.gather(constant(np.zeros(5), F32), index, constant(0))], [x])


def fifth_row() -> Model:
    x = parameter([2, -1], F32, "x")
    return Model([ops.gather(x, constant([4]), constant(1))], [x])


def lookup_by_fraction() -> Model:
    x = parameter([7], F32, "x")
    index = ops.convert(ops.clamp(x, 0, 9.5), "i32")
    return Model([ops.gather(constant(np.zeros(10), F32), index, constant(0))], [x])


def ours_in_lanes(kind: str, low: int, **attributes: object) -> Model:
    """Numbers of 64 bits in lanes are scattered along the axis of 7, by indices from `low` to 6."""
    x = parameter([3, 7] if kind == "ScatterElements" else [9, 2], I32, "x")
    index = ops.clamp(x, low, 6)
    updates = constant(np.zeros((3, 7, 2) if kind == "ScatterElements" else (9, 2)), I32)
    inputs = [constant(np.zeros((3, 7, 2)), I32).output(0), index.output(0), updates.output(0)]
    return Model([ours(kind, inputs, {"reduction": "none", "lanes": "i64", **attributes})], [x])


def broadcast_to_none(shape: list[int], mode: str, work: str = "") -> Model:
    """Executed on elements that ONNX and OpenVINO's shape inference lack."""
    x = parameter([1], np.int64, "x")
    indices = ops.broadcast(x, constant(shape), None, mode)
    if work:
        indices = getattr(ops, work.partition(" ")[0])(indices, constant([1]))
    if work.endswith("reshape"):
        indices = ops.reshape(indices, constant([-1]), False)
    return Model([ops.gather(constant(np.arange(3), F32), indices, constant(0))], [x])


CASES: dict[str, tuple[Callable[[], Model], str, dict[str, object]]] = {
    "an embedding": (embedding, "conditional", {"ids": (-1000, 999)}),
    "2 i + 1": (affine, "conditional", {"x": (-5, 4)}),
    "the greatest element": (lambda: best([2, 7]), "proved", {}),
    "the greatest element of an open axis": (lambda: best([2, -1]), "conditional", {"dim(x, 1)": (1, None)}),
    "clamped by a size": (clamped_by_size, "conditional", {"dim(data, 0)": (1, None)}),
    # Of larger numbers the plugin computes the remainder in float32, which may come out as large as the divisor, and larger.
    "a remainder by a size": (remainder_by_size, "conditional", {"x": (-(2**24), 2**24), "dim(data, 0)": (1, None)}),
    "the positions of an open axis": (positions, "proved", {}),
    "where a mask is not zero": (non_zeros, "proved", {}),
    "remainders of places": (remainder_of_places, "proved", {}),
    "positions in a product": (positions_in_a_product, "proved", {}),
    "experts": (lambda: experts_of(6), "proved", {}),
    "experts of an open batch": (lambda: experts_of(-1), "conditional", {"dim(x, 0)": (1, None)}),
    "experts that are given": (lambda: experts_that_are_given(4), "conditional", {"chosen": (0, 3)}),
    "buckets by a logarithm": (buckets_by_a_logarithm, "proved", {}),
    "rows from the end": (rows_from_the_end, "conditional", {"x": (-10, 9)}),
    "our scatter along the last axis": (lambda: ours_in_lanes("ScatterElements", -7, axis=-1), "proved", {}),
    "our scatter along another axis": (lambda: ours_in_lanes("ScatterElements", 3, axis=-2), "refuted", {}),
    "our scatter of tuples": (lambda: ours_in_lanes("ScatterND", 3), "refuted", {}),
    "no rows that are executed": (lambda: broadcast_to_none([0], "BIDIRECTIONAL"), "conditional", {"x": (-3, 2)}),
    "no columns that are executed": (lambda: broadcast_to_none([2, 0], "NUMPY", "add"), "conditional", {"x": (-4, 1)}),
    "one past the end": (one_past_the_end, "refuted", {}),
    "the fifth row": (fifth_row, "conditional", {"dim(x, 1)": (5, None)}),
    "a clamped fraction": (lookup_by_fraction, "conditional", {"x": (-3.4028234663852886e38, 3.4028234663852886e38)}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_known_of_the_last_site(name: str) -> None:
    make, status, requires = CASES[name]
    (*_, proof) = prove(make())
    assert (proof.status, dict(proof.requires)) == (status, requires), proof


@pytest.mark.parametrize("name", CASES)
def test_a_saved_model_is_proved_as_the_model_itself(name: str, tmp_path) -> None:
    model = CASES[name][0]()
    openvino.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
    assert [_comparable(proof) for proof in prove(tmp_path / "model.xml")] == [_comparable(proof) for proof in prove(model)]


def _comparable(proof: Proof) -> tuple[object, ...]:
    return proof.layer, proof.status, proof.axis_size, proof.requires


@pytest.mark.parametrize("work", ["", "add", "maximum", "multiply", "subtract", "add and reshape"])
@pytest.mark.parametrize("mode", ["BIDIRECTIONAL", "NUMPY"])
@pytest.mark.parametrize("shape", [[0], [2, 0]])
def test_no_executed_index_is_overlooked(shape: list[int], mode: str, work: str) -> None:
    """OpenVINO drops a Broadcast of one element to none, so that an index of 9 reads past the end."""
    model = broadcast_to_none(shape, mode, work)
    (proof,) = prove(model)
    gather = model.get_results()[0].input_value(0).get_node()
    executed = openvino.compile_model(Model([gather.input_value(1)], model.get_parameters()), "CPU")(np.array([9]))[0]
    assert executed.size == 0 or (executed > 2).all()
    assert executed.size == 0 or proof.status != "proved"


@pytest.mark.parametrize(("dtype", "largest", "rounded"), [(np.uint8, 255, 128), (np.int8, 127, 64), (np.uint8, 3, 2)])
def test_quotients_of_bytes_are_rounded_up(dtype: type, largest: int, rounded: int) -> None:
    x = parameter([-1], dtype, "x")
    index = ops.convert(ops.divide(x, constant(2, dtype)), "i32")
    compiled = openvino.compile_model(Model([index], [x]), "CPU")
    assert compiled(np.array([largest], dtype))[0] == [rounded]
    for size in (rounded, rounded + 1):
        model = Model([ops.gather(constant(np.zeros(size), F32), index, constant(0))], [x])
        (assumed,) = prove(model, assume={"x": (0, largest)})
        (proof,) = prove(model)
        (_, most) = proof.requires.get("x", (None, np.iinfo(dtype).max))
        assert (assumed.status == "proved") == (size > rounded), assumed
        assert size > rounded or proof.status == "unknown" or most < largest, proof
        assert bool(harden(model, assume={"x": (0, largest)}).guards) == (size == rounded)


def test_an_assumption_proves_what_depends_on_it() -> None:
    (proof,) = prove(embedding(), assume={"ids": (0, 999)})
    assert proof.status == "proved"
    (*_, proof) = prove(best([2, -1]), assume={"dim(x, 1)": (1, None)})
    assert proof.status == "proved"


@pytest.mark.parametrize("assume", [{"idss": (0, 1)}, {"ids": (5, 4)}, {"dim(ids, 0)": (0, 1)}])
def test_a_wrong_assumption_is_refused(assume) -> None:
    with pytest.raises(ValueError, match="assume"):
        prove(embedding(), assume=assume)


def test_an_open_rank_is_not_known() -> None:
    x = parameter(PartialShape.dynamic(), F32, "x")
    i = parameter([2], I32, "i")
    (proof,) = prove(Model([ops.gather(x, i, constant(0))], [x, i]))
    assert proof.status == "unknown"
    assert "rank" in proof.reason

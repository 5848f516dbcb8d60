"""ONNX to ONNX: onnxruntime computes the same before and after, bit by bit."""

from collections import Counter

import numpy as np
import onnx
import onnx_ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import numpy_helper

from helpers.legalized import constant, indices, legalized, model, random
from ov_gather.converters.errors import ConversionError
from ov_gather.converters.legalize import legalize

pytestmark = pytest.mark.onnxruntime


def test_smaller_indices():
    proto = model("float[4,9,7] x, int64[4,5,3] i) => (float[4,5,3] y)", "y = GatherElements<axis = 2>(x, i)")
    inputs = {"x": random(4, 9, 7), "i": indices(7, 4, 5, 3)}
    ops, (rewrite,) = legalized(proto, inputs)
    assert ops["Slice"] == 1
    assert ops["Shape"] == 0
    assert (rewrite.node, rewrite.what, rewrite.done) == (
        "node GatherElements '' (output y)",
        "data sliced to 5 along axis 1",
        True,
    )
    assert legalized(proto, inputs, target="extension") == (Counter(GatherElements=1), [])


@pytest.mark.parametrize("shape", [(4, 5, 9), (4, 9, 9), (2, 9, 1)])
def test_smaller_indices_of_open_size(shape):
    proto = model("float[A,9,7] x, int64[B,M,K] i) => (float[B,M,K] y)", "y = GatherElements<axis = -1>(x, i)")
    ops, (rewrite,) = legalized(proto, {"x": random(4, 9, 7), "i": indices(7, *shape)})
    assert ops["Slice"] == 1
    assert rewrite.what == "data sliced to that of indices along axis 0, that of indices along axis 1"


def test_equal_by_name_is_not_sliced():
    proto = model("float[B,M,7] x, int64[B,M,K] i) => (float[B,M,K] y)", "y = GatherElements<axis = 2>(x, i)")
    assert legalized(proto, {"x": random(2, 3, 7), "i": indices(7, 2, 3, 4)}) == (Counter(GatherElements=1), [])


def test_open_rank_is_reported():
    proto = model("float[] x, int64[2] i) => (float[2] y)", "y = GatherElements(x, i)")
    changed = onnx_ir.from_proto(proto)
    (rewrite,) = legalize(changed)
    assert (rewrite.done, rewrite.what) == (False, "data not sliced to the indices: the rank of one is open")


def test_broadcast_to_gather():
    proto = model(
        "float[20,8] x, int64[50] i) => (float[50,8] y)",
        """one = Constant<value_ints = [1]>()
        column = Unsqueeze(i, one)
        shape = Constant<value_ints = [50, 8]>()
        wide = Expand(column, shape)
        y = GatherElements<axis = 0>(x, wide)""",
    )
    inputs = {"x": random(20, 8), "i": indices(20, 50)}
    ops, (rewrite,) = legalized(proto, inputs)
    assert ops["GatherElements"] == 1
    assert rewrite.what.startswith("broadcast of the indices kept: they may be out of bounds")
    assert not rewrite.done
    for options in ({"assume_in_bounds": True}, {"target": "extension"}):
        ops, (rewrite,) = legalized(proto, inputs, **options)
        assert rewrite.what == "broadcast of the indices folded into Gather"
        assert (ops["Gather"], ops["GatherElements"], ops["Expand"]) == (1, 0, 0)


def topk(signature, expand, data="float[2,9,4] x", opset=20):
    """Data and the indices of the 3 largest of 9 scores, expanded."""
    return model(
        f"{data}, float[2,9] scores) => ({signature})",
        f"""three = Constant<value_ints = [3]>()
        best, i = TopK(scores, three)
        shape = Constant<value_ints = [2, 3, 1]>()
        column = Reshape(i, shape)
        {expand}""",
        opset=opset,
    )


TO = "to = Constant<value_ints = [1, 1, 4]>()"
WIDE = f"{TO} wide = Tile(column, to)"
ALONE = {"TopK": 1, "Reshape": 1, "Constant": 2, "GatherND": 1}


@pytest.mark.parametrize(
    ("nodes", "others", "expected"),
    [
        ("to = Constant<value_ints = [2, 3, 4]>() wide = Expand(column, to)", "", ALONE),
        (f"{TO} wide = Expand(column, to)", "", ALONE),
        (WIDE, "", ALONE),
        (
            f"""all = Constant<value_ints = [2, 3, 1]>() column2 = Expand(column, all)
            {TO} wide2 = Tile(column2, to) wide = Identity(wide2)""",
            "",
            ALONE,
        ),
        (f"narrow = Cast<to = 6>(column) {TO} wide = Tile(narrow, to)", "", {"GatherND": 1}),  # int32
        # with other consumers of the broadcast, which stays
        (WIDE, "int64[2,3,4] wide", {"GatherND": 1, "Tile": 1}),
        (f"{WIDE} double = Add(wide, wide)", "int64[2,3,4] double", {"GatherND": 1, "Tile": 1}),
        # two gathers share a broadcast
        (
            f"{WIDE} negative = Neg(x) z = GatherElements<axis = 1>(negative, wide)",
            "float[2,3,4] z",
            {"GatherND": 2, "Tile": 0},
        ),
    ],
)
def test_broadcast_to_gather_in_batches(nodes, others, expected):
    proto = topk(f"float[2,3,4] y{', ' * bool(others)}{others}", f"{nodes} y = GatherElements<axis = 1>(x, wide)")
    ops, rewrites = legalized(proto, {"x": random(2, 9, 4), "scores": random(2, 9)})
    folded = [rewrite for rewrite in rewrites if rewrite.what == "broadcast of the indices folded into GatherND"]
    assert len(folded) == len(rewrites) == expected["GatherND"]
    assert (ops if expected is ALONE else {name: ops[name] for name in expected}) == expected


def test_broadcast_to_gather_in_batches_needs_opset_12():
    proto = topk(
        "float[2,3,4] y",
        "to = Constant<value_ints = [1, 1, 4]>() wide = Tile(column, to) y = GatherElements<axis = 1>(x, wide)",
        opset=11,
    )
    for node in (node for node in proto.graph.node if node.op_type == "Constant"):  # opset 11 has only tensors
        tensor = numpy_helper.from_array(np.array(node.attribute[0].ints, np.int64))
        node.attribute[0].CopyFrom(onnx.helper.make_attribute("value", tensor))
    ops, (rewrite,) = legalized(proto, {"x": random(2, 9, 4), "scores": random(2, 9)})
    assert ops["GatherElements"] == 1
    assert rewrite.what == "broadcast of the indices kept: GatherND has batches from opset 12 on, this is 11"


def test_broadcast_of_an_open_size():
    """The index of the largest along N is an index of N."""
    proto = model(
        "float[B,N,4] x, float[B,N] scores) => (float[B,1,4] y)",
        """i = ArgMax<axis = 1>(scores) one = Constant<value_ints = [2]>() column = Unsqueeze(i, one)
        to = Constant<value_ints = [1, 1, 4]>() wide = Expand(column, to) y = GatherElements<axis = 1>(x, wide)""",
    )
    ops, (rewrite,) = legalized(proto, {"x": random(2, 9, 4), "scores": random(2, 9)})
    assert rewrite.what == "broadcast of the indices folded into GatherND"
    assert ops["GatherElements"] == 0


OPEN = "whether data has their size along axis 0 is open"


def kept(signature, expand, to, inputs):
    """Why a broadcast is not folded."""
    proto = model(signature, f"wide = {expand} y = GatherElements<axis = 1>(x, wide)")
    ops, (rewrite,) = legalized(constant(to, proto, "to"), inputs, target="extension")
    assert (ops["GatherElements"], ops[expand.partition("(")[0]], rewrite.done) == (1, 1, False)
    return rewrite.what.removeprefix("broadcast of the indices kept: ")


@pytest.mark.parametrize(
    ("signature", "expand", "to", "shape", "expected"),
    [
        ("float[2,6,4] x, int64[2,1,1] i", "Expand(i, to)", [2, 3, 4], (2, 1, 1), "it is along axis 1 of the gather"),
        ("float[2,6,4] x, int64[1,3,4] i", "Tile(i, to)", [2, 1, 1], (1, 3, 4), "they differ along axis 2, too"),
        ("float[A,6,4] x, int64[B,3,1] i", "Expand(i, to)", [1, 1, 4], (2, 3, 1), OPEN),
        ("float[A,6,4] x, int64[2,3,1] i", "Expand(i, to)", [1, 1, 4], (2, 3, 1), OPEN),
    ],
)
def test_broadcasts_that_no_gather_has(signature, expand, to, shape, expected):
    y = "B" if "B" in signature else "2"
    inputs = {"x": random(2, 6, 4), "i": indices(6, *shape)}
    assert kept(f"{signature}) => (float[{y},3,4] y)", expand, to, inputs) == expected


def test_broadcast_of_strings_stays():
    inputs = {"x": np.array([["a", "b"], ["c", "d"]], object), "i": np.array([[1, 0]])}
    reason = kept("string[2,2] x, int64[1,2] i) => (string[2,2] y)", "Expand(i, to)", [2, 2], inputs)
    assert reason.startswith("onnxruntime 1.31's Gather")


dims = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_broadcast(data):
    """Any rank, axis, broadcast and size (also 0) gives the same elements, and is folded where a Gather or GatherND exists."""
    shape = data.draw(dims)
    axis = data.draw(st.integers(0, len(shape) - 1))
    wide = [data.draw(st.integers(0, size)) for size in shape]
    wide[axis] = data.draw(st.integers(0, 3)) if shape[axis] else 0
    small = [size if i == axis else data.draw(st.sampled_from([1, size])) for i, size in enumerate(wide)]
    small = small[data.draw(st.integers(0, next((i for i, size in enumerate(small) if size != 1), len(small)))) :]
    element_type = data.draw(st.sampled_from(["int32", "int64"]))
    proto = model(
        f"float{shape} x, {element_type}{small or ''} i) => (float{wide} y)",
        f"wide = Expand(i, to) y = GatherElements<axis = {data.draw(st.sampled_from([axis, axis - len(shape)]))}>(x, wide)",
    )
    constant(np.array(wide), proto, "to")
    proto.graph.value_info.append(
        onnx.helper.make_tensor_value_info("wide", proto.graph.input[1].type.tensor_type.elem_type, wide)
    )
    inputs = {"x": random(*shape), "i": indices(max(shape[axis], 1), *small).astype(element_type)}
    legalized(proto, inputs)
    before = [1] * (len(wide) - len(small)) + small
    varies = [i for i, size in enumerate(before) if i != axis and size != 1]
    folds = before != wide and (not varies or max(varies) < axis < len(wide) - 1)
    for options in ({"assume_in_bounds": True}, {"target": "extension"}):
        ops, _ = legalized(proto, inputs, **options)
        if 0 not in wide:
            assert ops["GatherND" if varies else "Gather"] == folds
            assert ops["GatherElements"] == (not folds)


def test_unknown_target():
    with pytest.raises(ValueError, match="target 'gpu' is unknown: stock or extension"):
        legalize(onnx_ir.from_proto(model("float[1] x) => (float[1] y)", "y = Identity(x)")), target="gpu")


@pytest.mark.parametrize(
    ("x", "i", "y", "axis"),
    [
        ("3,4", "0", "3,0", 1),
        ("5,0", "2,3", "2,3,0", 0),
        ("3,4", "2,0", "2,0,4", -2),
        ("0,4", "0", "0,4", 0),
        ("7", "0", "0", 0),
    ],
)
@pytest.mark.parametrize("element_type", ["float", "int64", "bool", "float16"])
def test_a_gather_of_nothing(x, i, y, axis, element_type):
    """OpenVINO's CPU plugin divides by zero when it compiles a Gather of static shapes without elements."""
    proto = model(f"{element_type}[{x}] x, int64[{i}] i) => ({element_type}[{y}] y)", f"y = Gather<axis = {axis}>(x, i)")
    names = {"float": "float32"}
    data, places = (np.zeros([int(size) for size in dims.split(",")], np.int64) for dims in (x, i))
    inputs = {"x": data.astype(names.get(element_type, element_type)), "i": places}
    ops, (rewrite,) = legalized(proto, inputs)
    assert (ops["Gather"], rewrite.done) == (0, True)
    assert rewrite.what == f"replaced by the empty tensor of shape [{y.replace(',', ', ')}] that it gives"
    assert legalized(proto, inputs, target="extension") == (Counter(Gather=1), [])


def test_indices_of_an_empty_axis():
    proto = model("float[2,0] x, int64[3] i) => (float[2,3] y)", "y = Gather<axis = 1>(x, i)")
    with pytest.raises(ConversionError, match=r"output y\): no index is valid for axis 1 of size 0, and there are 3 of them"):
        legalize(onnx_ir.from_proto(proto))


def test_empty_strings_and_open_sizes_stay():
    strings = model("string[3] x, int64[0] i) => (string[0] y)", "y = Gather(x, i)")
    (rewrite,) = legalize(onnx_ir.from_proto(strings))
    assert (rewrite.done, rewrite.what) == (False, "empty gather of strings kept: OpenVINO's CPU plugin dies of it")
    proto = model("float[3,4] x, int64[N] i) => (float[N,4] y)", "y = Gather(x, i)")
    assert legalized(proto, {"x": random(3, 4), "i": indices(3, 0)}) == (Counter(Gather=1), [])


@pytest.mark.parametrize(("step", "is_kept"), [(1, True), (2, False)])
def test_a_slice_that_starts_at_0_starts_at_the_end(step, is_kept):
    text = f"""start = Constant<value = int64[1] {{0}}>() end = Constant<value = int64[1] {{5}}>()
        axis = Constant<value = int64[1] {{0}}>() step = Constant<value = int64[1] {{{step}}}>()
        s = Slice(x, start, end, axis, step) y = GatherElements<axis = 0>(s, i)"""
    proto = model("float[9,7] x, int64[1,7] i) => (float[1,7] y)", text)
    _, rewrites = legalized(proto, {"x": random(9, 7), "i": indices(1, 1, 7)})
    assert any("counted from the end" in rewrite.what for rewrite in rewrites) == is_kept

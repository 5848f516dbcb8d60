"""Our operation inside OpenVINO: types, shapes, errors, threads, ONNX, round trips, and what happens when it does not fit."""

import gc
from dataclasses import replace
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ov_gather
from helpers.inside_openvino import compiled, evaluate, infer, inferred_shape, one_layer, read
from ov_gather.extension import installed
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I32, I64, by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.runtimes.openvino import ExtensionRuntime

FLAGS = {"broadcast": False, "transpose": False, "same_shape": False, "lanes": False}


def layer_model(data="3,7,5", indices="3,10,5", axis=1, data_type=F32, **flags):
    inputs = {"data": (data, data_type), "indices": (indices, I64)}
    return one_layer("GatherElements", inputs, {"axis": axis, **FLAGS, **flags})


@pytest.mark.sanitized
def test_more_than_2_to_the_31_elements(core):
    data = np.zeros(2**31 + 64, np.uint8)
    indices = np.array([2**31 + 63, -1, 0, 2**31, -(2**31) - 64])
    data[indices] = [1, 1, 2, 3, 2]
    size = str(data.size)
    result = evaluate(read(core, layer_model(size, "5", 0, data_type=by_name("u8"))), by_name("u8"), data, indices)
    assert result.tolist() == [1, 1, 2, 3, 2]
    indices[3] = 2**31 + 64
    with pytest.raises(RuntimeError, match=r"indices\[3\] = 2147483712 is out of bounds for axis 0 of size 2147483712"):
        evaluate(read(core, layer_model(size, "5", 0, data_type=by_name("u8"))), by_name("u8"), data, indices)


@pytest.mark.parametrize(
    ("data", "indices", "axis", "flags", "output"),
    [
        ("3,7,5", "3,10,5", 1, {}, "[3,10,5]"),
        ("3,7,5", "2,10,4", -2, {}, "[2,10,4]"),
        ("3,7,5", "...", 1, {}, "[0..3,?,0..5]"),
        ("...", "2,?", 1, {}, "[2,?]"),
        ("...", "...", 9, {}, "[...]"),
        ("2..4,?", "1..9,6", 1, {}, "[1..4,6]"),
        ("?,7", "?,1", 1, {}, "[?,1]"),
        ("3,7,5", "1,10,1", 1, {"broadcast": True}, "[3,10,5]"),
        ("3,7,5", "3,10,1", 1, {"broadcast": True}, "[3,10,5]"),
        ("?,7", "4,2", 1, {"broadcast": True}, "[4,2]"),
        ("2..9,7", "?,2", 1, {"broadcast": True}, "[2..9,2]"),
        ("?,7", "1,2", 1, {"broadcast": True}, "[?,2]"),
        ("3,7", "...", 0, {"broadcast": True}, "[?,7]"),
        ("...", "4,1", 0, {"broadcast": True}, "[4,?]"),
        ("3,0", "3,2", 1, {}, "[3,2]"),
        ("3,7,5", "3,10,5", 1, {"same_shape": True}, "[3,10,5]"),
        ("3,7,5", "...", 1, {"same_shape": True}, "[3,?,5]"),
        ("2..4,?", "1..9,6", 1, {"same_shape": True}, "[2..4,6]"),
        ("?,7", "?,?", 0, {"same_shape": True, "broadcast": True}, "[?,7]"),
        ("3,7,5,2", "2,10,4", 1, {"lanes": True}, "[2,10,4,2]"),
        ("3,7,5,2", "2,10,4", -3, {"lanes": True}, "[2,10,4,2]"),
        ("...", "2,?", 1, {"lanes": True}, "[2,?,?]"),
        ("?,7,?", "...", 0, {"lanes": True}, "[?,0..7,?]"),
        ("3,7,2", "3,1", 0, {"lanes": True, "broadcast": True}, "[3,7,2]"),
        ("...", "...", -2, {"lanes": True}, "[...]"),
    ],
)
def test_output_shape(core, data, indices, axis, flags, output):
    shapes = (PartialShape.parse(data), PartialShape.parse(indices))
    (specified,) = GATHER_ELEMENTS_CUSTOM.infer_shapes(shapes, {"axis": axis, **FLAGS, **flags})
    assert str(specified) == output
    assert inferred_shape(read(core, layer_model(data, indices, axis, **flags))) == specified


@pytest.mark.parametrize(
    ("data", "indices", "axis", "flags", "reason"),
    [
        ("3,7", "3", 0, {}, "must have the same rank"),
        ("", "", 0, {}, "rank of at least 1"),
        ("3,7", "3,2", 2, {}, "axis 2 is out of range for rank 2"),
        ("3,7", "4,2", 1, {}, "do not fit data .3,7. in dimension 0: off the axis it may not exceed data's"),
        (
            "3,7",
            "2,2",
            1,
            {"broadcast": True},
            "do not fit data .3,7. in dimension 0: with broadcast=true it must be 1 or data's",
        ),
        ("3,7", "2,2", 1, {"same_shape": True}, "do not fit data .3,7. in dimension 0: with same_shape=true it must be data's"),
        ("3,7", "1,2", 1, {"same_shape": True, "broadcast": True}, "in dimension 0: with same_shape=true it must be data's"),
        ("1..3,7", "4..9,7", 1, {}, "in dimension 0"),
        ("7", "3", 0, {"transpose": True}, "transpose=true needs a rank of at least 2, not 1"),
        ("3,7,2", "3,7", 2, {"lanes": True}, r"axis 2 is out of range for rank 3 .valid -3..1."),
        ("3,7,2", "3,7", -1, {"lanes": True}, "axis -1 is out of range for rank 3"),
        ("3,7,2", "3,7", 0, {"lanes": True, "transpose": True}, "exclude each other"),
        ("3,7", "3,7", 0, {"lanes": True}, "must have the same rank"),
    ],
)
def test_shapes_that_do_not_fit(core, data, indices, axis, flags, reason):
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, layer_model(data, indices, axis, **flags))


DIMS = st.sampled_from(["?", "1", "2", "3", "0", "1..2", "2..", "..3", "2..5"])
SHAPES = st.one_of(st.just("..."), st.lists(DIMS, min_size=1, max_size=3).map(",".join))


@settings(max_examples=150, deadline=None)
@given(SHAPES, SHAPES, st.integers(-3, 2), st.fixed_dictionaries(dict.fromkeys(FLAGS, st.booleans())))
def test_the_specification_says_what_the_operation_infers(core, data, indices, axis, flags):
    shapes = (PartialShape.parse(data), PartialShape.parse(indices))
    try:
        GATHER_ELEMENTS_CUSTOM.read_attributes({"axis": str(axis)}, shapes)
        (specified,) = GATHER_ELEMENTS_CUSTOM.infer_shapes(shapes, {"axis": axis, **flags})
    except ValueError:
        specified = None
    try:
        assert inferred_shape(read(core, layer_model(data, indices, axis, **flags))) == specified
    except RuntimeError:
        assert specified is None


@pytest.mark.parametrize("broadcast", [False, True])
def test_indices_of_open_shape_that_are_smaller_raise_on_demand(core, broadcast):
    flags = {"broadcast": broadcast, "same_shape": True}
    request = compiled(core, read(core, layer_model("?,?", "?,?", 0, **flags)))
    table = np.arange(21, dtype=np.float32).reshape(7, 3)
    for smaller in (1, 2):
        with pytest.raises(RuntimeError, match="dimension 1: with same_shape=true it must be data's"):
            infer(request, table, np.zeros((9, smaller), np.int64))
    where = np.random.default_rng(0).integers(-7, 7, (9, 3))
    assert np.array_equal(infer(request, table, where), np.take_along_axis(table, where, 0))


@pytest.mark.parametrize("transpose", [False, True])
def test_the_position_is_that_of_the_broadcast_index(core, transpose):
    request = compiled(core, read(core, layer_model("3,7,5", "3,2,1", 1, broadcast=True, transpose=transpose)))
    indices = np.zeros((3, 2, 1), np.int64)
    indices[2, 1, 0] = -8
    with pytest.raises(RuntimeError, match=r"indices\[2, 1, 0\] = -8"):
        infer(request, np.zeros((3, 7, 5), np.float32), indices)


@pytest.mark.sanitized
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_broadcast_and_transpose_against_numpy(core, data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    indices = [data.draw(st.sampled_from([1, size])) for size in shape]
    indices[axis] = data.draw(st.integers(0, 5))
    rng = np.random.default_rng(0)
    table, where = rng.random(shape, np.float32), rng.integers(-shape[axis], shape[axis], indices)
    transpose = len(shape) > 1 and data.draw(st.booleans())
    model = read(
        core, layer_model(",".join(map(str, shape)), ",".join(map(str, indices)), axis, broadcast=True, transpose=transpose)
    )
    expected = np.take_along_axis(table, where, axis)  # NumPy broadcasts as our operation does
    assert np.array_equal(evaluate(model, F32, table, where), np.swapaxes(expected, -1, -2) if transpose else expected)


def test_strings_are_transposed_as_well(core):
    model = read(core, layer_model("?,?", "?,?", transpose=True, data_type=by_name("string")))
    words, where = np.array([["a", "b"], ["ccc", ""]]), np.array([[1, 1, 0], [0, 1, -2]])
    assert infer(compiled(core, model), words, where).tolist() == [["b", "ccc"], ["b", ""], ["a", "ccc"]]


def test_a_cached_model_is_the_same(tmp_path):
    table, where = np.arange(21, dtype=np.float32).reshape(3, 7), np.array([[6, -7], [0, 1]])
    for _ in range(2):
        core = ov_gather.register(ov.Core())
        core.set_property({"CACHE_DIR": tmp_path})
        request = compiled(core, read(core, layer_model("3,7", "2,2")))
        assert np.array_equal(infer(request, table, where), np.take_along_axis(table[:2], where, 1))
    assert len(list(tmp_path.glob("*.blob"))) == 1


def test_a_constant_layer_is_folded_and_checked_when_compiled(core):
    builder = ModelBuilder("folded")
    data = builder.const("data", F32, np.arange(6, dtype=np.float32).reshape(2, 3))
    indices = builder.const("indices", I64, np.array([[1, 3]]))
    shape = PartialShape.of((1, 2))
    (output,) = builder.layer("GatherElements", "gather", "ov_gather", {"axis": "1"}, [data, indices], [(F32, shape)])
    builder.result("output", output)
    with pytest.raises(RuntimeError, match=r"GatherElements 'gather': indices\[0, 1\] = 3 is out of bounds"):
        infer(compiled(core, read(core, builder.build())))


def test_many_requests_at_once(core, rng):
    compiled_model = core.compile_model(read(core, layer_model("64,512,16", "64,300,16")), "CPU", {"NUM_STREAMS": 2})
    table = rng.random((64, 512, 16), np.float32)
    cases = [rng.integers(-512, 512, (64, 300, 16)) for _ in range(6)]
    requests = [compiled_model.create_infer_request() for _ in cases]
    for request, where in zip(requests, cases, strict=True):
        request.set_tensors({0: ov.Tensor(table), 1: ov.Tensor(where)})
    for request in requests:
        request.start_async()
    for request, where in zip(requests, cases, strict=True):
        request.wait()
        assert np.array_equal(request.get_output_tensor(0).data, np.take_along_axis(table, where, 1))


def test_a_model_outlives_its_core():
    model = read(ov_gather.register(ov.Core()), layer_model("3,7", "3,2"))
    gc.collect()
    assert model.clone().output(0).partial_shape.to_shape() == ov.Shape([3, 2])


def test_registering_twice_does_no_harm():
    core = ov_gather.register(ov_gather.register(ov.Core()))
    assert read(core, layer_model("3,7", "3,2")).output(0).partial_shape.to_shape() == ov.Shape([3, 2])


def test_an_openvino_that_is_not_the_one_whose_headers_are_there_is_refused(monkeypatch):
    headers = replace(installed.find(), release="2025.9.3")
    monkeypatch.setattr(installed, "find", lambda: headers)
    with pytest.raises(ImportError, match=r"of two releases, OpenVINO 2025\.9\.3 and 20.*pip install --force-reinstall"):
        ov_gather.register(ov.Core())


def test_the_plugin_narrows_64_bits_before_our_operation_sees_them():
    """Reported as a divergence, never claimed: from Python, and evaluated directly, the same layer is exact."""
    runtime = ExtensionRuntime()
    runtime.activate(layer_model("2", "2", 0, data_type=I64))
    (output,) = runtime.execute([np.array([2**40 + 3, 5]), np.array([0, 1])])
    assert output.tolist() == [3, 5]


def test_only_two_symbols_are_ours():
    """Hidden symbols: nothing of our kernel can clash with another extension's."""
    exported = Path(ov_gather.extension_path()).read_bytes()
    assert b"\0create_extensions\0" in exported
    assert b"\0ov_gather_built_for\0" in exported
    assert b"_ZN9ov_gather" not in exported


@pytest.mark.sanitized
@pytest.mark.parametrize("lanes", [1, 2, 3, 4])
@pytest.mark.parametrize("broadcast", [False, True])
def test_lanes_stay_together(core, lanes, broadcast, rng):
    """Elements of lanes are gathered by one index, whether they fill one wide element (as 2 and 4 of i32) or not."""
    data = rng.integers(-(2**31), 2**31, (3, 7, 5, lanes), np.int64).astype(np.int32)
    where = rng.integers(-7, 7, (3, 10, 1) if broadcast else (2, 10, 4))
    model = read(core, layer_model("?,?,?,?", "?,?,?", -3, I32, lanes=True, broadcast=broadcast))
    part = data if broadcast else data[:2, :, :4]
    expected = np.take_along_axis(part, np.broadcast_to(where, (len(part), 10, part.shape[2]))[..., None], 1)
    assert np.array_equal(evaluate(model, I32, data, where), expected)
    where[1, 9, 0] = 7
    with pytest.raises(RuntimeError, match=r"indices\[1, 9, 0\] = 7 is out of bounds for axis 1 of size 7"):
        evaluate(model, I32, data, where)


@pytest.mark.onnxruntime
@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(("lanes", "reduction"), [("i64", "add"), ("c128", "mul")])
def test_scatters_of_lanes_are_checked(kind, lanes, reduction):
    """The layers that `convert --lanes` writes are compared with NumPy; ONNX has none."""
    count = 4 if lanes == "c128" else 2
    shapes = [[3, 7, count], [3, 9], [3, 9, count]] if kind == "ScatterElements" else [[3, 7, count], [9, 2], [9, count]]
    data, indices, updates = (",".join(map(str, shape)) for shape in shapes)
    inputs = {"data": (data, I32), "indices": (indices, I64), "updates": (updates, I32)}
    attributes = {"lanes": lanes, "reduction": reduction, **({"axis": -1} if kind == "ScatterElements" else {})}
    result = ov_gather.cross_check(one_layer(kind, inputs, attributes), runtimes=("extension", "onnxruntime"))
    assert result.passed, result.layers

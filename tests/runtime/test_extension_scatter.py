"""Our ScatterElements and ScatterND inside OpenVINO: types, reductions, shapes, errors, threads, round trips, ONNX."""

import ml_dtypes
import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.inside_openvino import as_tensor, compiled, evaluate, infer, one_layer, opsets, random_values, read, same_bits
from helpers.reductions import REDUCTIONS, scattered
from helpers.saved_models import parsed
from ov_gather.ir.element_types import BF16, F16, F32, I32, I64, by_name

NUMBERS = ["boolean", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"]


def layer_model(kind, data, indices, updates, data_type=F32, index_type=I64, update_type=None, **attributes):
    given = {"data": (data, data_type), "indices": (indices, index_type), "updates": (updates, update_type or data_type)}
    return one_layer(kind, given, {"axis": 0, **attributes} if kind == "ScatterElements" else attributes)


def loop(kind, data, indices, updates, axis=0, function=None):
    return scattered(data, indices, updates, axis if kind == "ScatterElements" else None, function)


def case(kind, row):
    """Data, indices (some twice, some negative) and updates of a type, and their shapes for an IR."""
    rng = np.random.default_rng(0)
    index_shape, update_shape = ((3, 9, 4), (3, 9, 4)) if kind == "ScatterElements" else ((8, 4, 2), (8, 4, 5))
    sizes = 7 if kind == "ScatterElements" else np.array([3, 7])
    data, updates = random_values(row, (3, 7, 5)), random_values(row, (8, 9, 5))[: update_shape[0], : update_shape[1]]
    updates = updates[..., : update_shape[2]]
    return data, rng.integers(-sizes, sizes, index_shape), updates


def texts(*arrays):
    return [",".join(map(str, array.shape)) for array in arrays]


@pytest.mark.sanitized
@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reductions_of_every_number(core, kind, reduction):
    attributes = {"reduction": reduction, **({"axis": -2} if kind == "ScatterElements" else {})}
    for name in NUMBERS:
        row = by_name(name)
        data, indices, updates = case(kind, row)
        if row.dtype.kind == "f":
            data, updates = (np.nan_to_num(array, posinf=3, neginf=4) % 100 for array in (data, updates))
        model = read(core, layer_model(kind, *texts(data, indices, updates), row, **attributes))
        result = evaluate(model, row, data, indices, as_tensor(row, updates))
        with np.errstate(all="ignore"):
            assert same_bits(result, loop(kind, data, indices, updates, 1, REDUCTIONS[reduction])), name


@pytest.mark.sanitized
@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(("row", "dtype"), [(F16, np.float16), (BF16, ml_dtypes.bfloat16)], ids=str)
def test_half_floats_are_rounded_once_and_what_no_update_names_keeps_its_bits(core, kind, row, dtype):
    data, updates = np.ones(4, dtype), np.full(3000, 1 / 16, dtype)
    bits = data.view(np.uint16)
    bits[:2] = 0x7F81 if row is BF16 else 0x7D01, 1  # a signalling NaN, a denormal
    indices = np.full((3000, 1) if kind == "ScatterND" else 3000, 3)
    model = read(core, layer_model(kind, *texts(data, indices, updates), row, reduction="add"))
    result = evaluate(model, row, data, indices, as_tensor(row, updates)).view(np.uint16)
    total = np.array([1 + 3000 / 16], np.float32).astype(dtype).view(np.uint16)
    assert result.tolist() == [*bits[:3], *total]


@pytest.mark.sanitized
@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(("row", "dtype"), [(F16, np.float16), (BF16, ml_dtypes.bfloat16)], ids=str)
def test_half_floats_are_rounded_to_the_nearest_even_number(core, kind, row, dtype, rng):
    data, updates = rng.uniform(-2, 2, (5, 9)).astype(dtype), rng.uniform(-2, 2, (20, 9)).astype(dtype)
    indices = rng.integers(-5, 5, (20, 9) if kind == "ScatterElements" else (20, 1))
    model = read(core, layer_model(kind, *texts(data, indices, updates), row, reduction="add"))
    expected = loop(kind, data.astype(np.float32), indices, updates.astype(np.float32), 0, np.add).astype(dtype)
    assert same_bits(evaluate(model, row, data, indices, as_tensor(row, updates)), expected)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(
    ("row", "dtype"),
    [("i64", "int64"), ("u64", "uint64"), ("f64", "float64"), ("c64", "complex64"), ("c128", "complex128")],
)
@pytest.mark.parametrize("shapes", ["static", "open"])
def test_numbers_in_lanes(core, kind, row, dtype, shapes):
    """The CPU plugin would compute them in 32 bits, or not at all."""
    data, indices, updates = case(kind, I64)
    if row not in ("i64", "u64"):
        data, updates = (array / 2**60 for array in (data, updates))
    if row in ("c64", "c128"):
        data, updates = data + 1j * data[::-1], updates + 1j * updates[::-1]
    data, updates = data.astype(dtype), updates.astype(dtype)
    lanes = [array.view(np.int32).reshape(*array.shape, -1) for array in (data, updates)]
    given = texts(lanes[0], indices, lanes[1]) if shapes == "static" else ["...", "...", "..."]
    for reduction, function in {"none": None, **REDUCTIONS}.items():
        attributes = {"reduction": reduction, "lanes": row, **({"axis": -2} if kind == "ScatterElements" else {})}
        model = read(core, layer_model(kind, *given, I32, **attributes))
        if shapes == "open":
            model.reshape(dict(enumerate([lanes[0].shape, indices.shape, lanes[1].shape])))
        result = infer(compiled(core, model), lanes[0], indices, lanes[1])
        with np.errstate(all="ignore"):
            assert same_bits(
                result.reshape(-1).view(dtype).reshape(data.shape), loop(kind, data, indices, updates, 1, function)
            )


@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
def test_a_sum_of_booleans_is_or(core, kind):
    """The CPU plugin turns the type of the model's booleans into u8, where the sum of 256 ones is 0."""
    data, updates = np.array([False, False, True]), np.ones(256, bool)
    indices = np.ones(256 if kind == "ScatterElements" else (256, 1), np.int64)
    for reduction, expected in {"add": [False, True, True], "mul": [False, False, True]}.items():
        model = read(core, layer_model(kind, *texts(data, indices, updates), by_name("boolean"), reduction=reduction))
        assert infer(compiled(core, model.clone()), data, indices, updates).tolist() == expected


@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("reduction", ["min", "max"])
def test_u32_is_compared_as_it_is(core, kind, reduction):
    """The CPU plugin turns the type of the model's u32 into i32."""
    row, rng = by_name("u32"), np.random.default_rng(0)
    data, updates = (rng.integers(0, 2**32, shape, np.uint32) for shape in ((5, 9), (20, 9)))
    indices = rng.integers(-5, 5, (20, 9) if kind == "ScatterElements" else (20, 1))
    model = read(core, layer_model(kind, *texts(data, indices, updates), row, reduction=reduction))
    expected = loop(kind, data, indices, updates, 0, REDUCTIONS[reduction])
    assert np.array_equal(infer(compiled(core, model.clone()), data, indices, updates), expected)


@pytest.mark.parametrize(
    ("kind", "shapes", "reason"),
    [
        ("ScatterElements", ("3,7", "3", "3"), "must have the same rank"),
        ("ScatterElements", ("", "", ""), "rank of at least 1"),
        ("ScatterElements", ("3", "2", "2"), r"axis 1 is out of range for rank 1 \(valid -1..0\)"),
        ("ScatterElements", ("3,7", "2,7", "2,8"), r"updates \[2,8\] must have the shape of indices \[2,7\]"),
        ("ScatterElements", ("3,7", "4,7", "4,7"), r"indices \[4,7\] do not fit data \[3,7\] in dimension 0: off the axis"),
        ("ScatterElements", ("..3,7", "4..,7", "?,7"), "off the axis it may not exceed data's"),
        ("ScatterElements", ("3,7", "?,7", "4,7"), r"updates \[4,7\] do not fit data"),
        ("ScatterND", ("", "2,1", "2"), "must have a rank of at least 1"),
        ("ScatterND", ("3,7", "", ""), "must have a rank of at least 1"),
        ("ScatterND", ("3,7", "2,3", "2"), r"tuples of 3 coordinates index data \[3,7\]"),
        ("ScatterND", ("3,7", "2,1", "2"), r"updates \[2\] must have the shape \[2,7\] of the tuples"),
        ("ScatterND", ("3,7", "2,1", "2,6"), r"updates \[2,6\] must have the shape \[2,7\]"),
    ],
)
def test_what_does_not_fit(core, kind, shapes, reason):
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, layer_model(kind, *shapes, **({"axis": 1} if kind == "ScatterElements" else {})))


@pytest.mark.parametrize(
    ("data", "updates", "types", "attributes", "reason"),
    [
        ("3", "2", (F32, I64, F16), {}, "updates must have the type f32 of data, not f16"),
        ("3", "2", (F32,), {"reduction": "sum"}, "reduction must be none, add, mul, min or max, not 'sum'"),
        ("3", "2", (by_name("string"),), {"reduction": "add"}, "elements of string have no reduction add"),
        ("3", "2", (by_name("f8e4m3"),), {"reduction": "max"}, "elements of f8e4m3 have no reduction max"),
        ("3,2", "2,2", (I32,), {"lanes": "i32"}, "lanes must be none, i64, u64, f64, c64 or c128, not 'i32'"),
        ("3,2", "2,2", (F32,), {"lanes": "i64"}, "data of f32 are no lanes of i64: these are i32"),
        ("3,4", "2,2", (I32,), {"lanes": "i64"}, r"the last dimension of \[3,4\] must be 2, for the lanes of i64"),
        ("3,2", "2,2", (I32,), {"lanes": "c128"}, r"the last dimension of \[3,2\] must be 4, for the lanes of c128"),
    ],
)
@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
def test_types_reductions_and_lanes_that_are_refused(core, kind, data, updates, types, attributes, reason):
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, layer_model(kind, data, "2" if kind == "ScatterElements" else "2,1", updates, *types, **attributes))


@pytest.mark.sanitized
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_against_a_loop(core, data):
    kind = data.draw(st.sampled_from(["ScatterElements", "ScatterND"]))
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    reduction = data.draw(st.sampled_from(["none", *REDUCTIONS]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    axis, attributes = 0, {"reduction": reduction}
    if kind == "ScatterElements":
        axis = attributes["axis"] = data.draw(st.integers(0, len(shape) - 1))
        own = [data.draw(st.integers(0, 6 if i == axis and size else size)) for i, size in enumerate(shape)]
        sizes, update_shape = max(shape[axis], 1), own
    else:
        depth = data.draw(st.integers(0, len(shape)))
        own = data.draw(st.lists(st.integers(0, 4), max_size=2)) if all(shape[:depth]) else [0]
        sizes, update_shape = np.maximum(shape[:depth], 1), own + shape[depth:]
        own = [*own, depth]
    table, updates = rng.integers(0, 9, shape).astype(np.float32), np.asarray(rng.random(update_shape), np.float32)
    indices = rng.integers(-sizes, sizes, own)
    result = evaluate(
        read(core, layer_model(kind, *texts(table, indices, updates), **attributes)), F32, table, indices, updates
    )
    assert same_bits(result, loop(kind, table, indices, updates, axis, REDUCTIONS.get(reduction)))


@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
def test_nothing_is_written_where_an_index_is_out_of_bounds(core, kind):
    shape = [2000] if kind == "ScatterElements" else [2000, 1]
    model = read(core, layer_model(kind, "3", ",".join(map(str, shape)), "2000"))
    indices = np.zeros(shape, np.int64)
    indices[-1] = 3
    output = np.full(3, 7, np.float32)
    with pytest.raises(RuntimeError, match="out of bounds"):
        model.evaluate([ov.Tensor(output)], [ov.Tensor(array) for array in (output + 1, indices, np.ones(2000, np.float32))])
    assert output.tolist() == [7, 7, 7]


@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
def test_the_order_of_updates_is_kept_on_any_number_of_threads(core, kind, rng):
    """Sums of floats depend on the order of their updates."""
    data, updates = rng.random((300, 40), np.float32), rng.random((4000, 40), np.float32)
    shape = (4000, 40) if kind == "ScatterElements" else (4000, 1)
    indices = rng.integers(-300, 300, shape)
    expected = loop(kind, data, indices, updates, 0, np.add)
    for threads in (1, 2):
        request = compiled(core, read(core, layer_model(kind, *texts(data, indices, updates), reduction="add")), threads)
        assert same_bits(infer(request, data, indices, updates), expected)


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_arithmetic_on_shapes_stays_openvino_s_own(core, op):
    """OpenVINO infers shapes from values that its own operations compute."""
    places = {"at": [1], "beyond": [2]} if op == "ScatterElements" else {"at": [[1]], "beyond": [[2]]}
    kind = "ScatterElementsUpdate" if op == "ScatterElements" else "ScatterNDUpdate"

    def read_with(place):
        text = (
            f"(float[n, 3] x) => (float[] y) {{ shape = Shape(x) sizes = {op}(shape, at, seven) y = ConstantOfShape(sizes) }}"
        )
        return core.read_model(parsed(text, 13, at=place, seven=[7]).SerializeToString())

    model = read_with(places["at"])
    assert (opsets(model, kind), opsets(model, op)) == (["opset12" if op == "ScatterElements" else "opset15"], [])
    assert str(model.output(0).partial_shape) == "[?,7]"
    with pytest.raises(RuntimeError, match=r"indices\[0(, 0)?\] = 2 is out of bounds for axis 0 of size 2"):
        infer(compiled(core, read_with(places["beyond"])), np.zeros((2, 3), np.float32))

"""Our kernel, our writer and our table of divergences against the OpenVINO runtime itself."""

from collections import defaultdict

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openvino import opset6, opset8, opset12, opset15

from helpers.paths import SAMPLES
from ov_gather import cross_check, read_ir, validate
from ov_gather.crosscheck.results import Status
from ov_gather.divergences.cpu_plugin import arithmetics_here
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import ELEMENT_TYPES, F32, I64, by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir
from ov_gather.ops.spec import LATEST_OPSET
from ov_gather.runtimes import isolated

F32_HINT = {"INFERENCE_PRECISION_HINT": "f32"}


def layer_model(element_type, data="3,7,5", indices="3,10,5", axis=1, data_value=None):
    builder = ModelBuilder("model")
    if data_value is None:
        table = builder.parameter("data", element_type, PartialShape.parse(data))
    else:
        table = builder.const("data", element_type, data_value)
    shape = PartialShape.parse(indices)
    where = builder.parameter("indices", I64, shape)
    (output,) = builder.layer(
        "GatherElements", "gather", "opset6", {"axis": str(axis)}, [table, where], [(element_type, shape)], tensor="output"
    )
    builder.result("output", output)
    return builder.build()


def only(result, runtime="openvino"):
    """What a runtime made of given inputs, which it gets on one thread and on two."""
    (layer,) = result.layers
    assert all(comparison.passed for comparison in layer.comparisons if comparison.runtime == "kernel")
    first, second = (comparison for comparison in layer.comparisons if comparison.runtime == runtime)
    assert (first.status, first.divergences, first.detail) == (second.status, second.divergences, second.detail)
    return first


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("valid/*.xml")), ids=lambda path: path.stem)
def test_openvino_loads_what_we_write(path, tmp_path):
    model = read_ir(path)
    if model.is_fragment:
        return
    write_ir(model, tmp_path / "copy.xml")
    original, copy = ov.Core().read_model(path), ov.Core().read_model(tmp_path / "copy.xml")
    assert [op.get_type_name() for op in copy.get_ordered_ops()] == [op.get_type_name() for op in original.get_ordered_ops()]
    assert [str(port) for port in (*copy.inputs, *copy.outputs)] == [
        str(port) for port in (*original.inputs, *original.outputs)
    ]


NARROWED = dict.fromkeys(("i64", "u64", "f64"), ("narrowed-to-32-bits", Status.EXPECTED))
OF_INDICES = ("negative-indices", "narrowed-to-32-bits")
KNOWN = {
    "openvino": NARROWED
    | dict.fromkeys(("u2", "f4e2m1"), ("unsafe-small-types", Status.NOT_APPLICABLE))
    | {"string": ("no-strings", Status.NOT_APPLICABLE)},
    "extension": NARROWED | dict.fromkeys(("i4", "u4", "u2", "f4e2m1"), ("no-elements-below-a-byte", Status.NOT_APPLICABLE)),
}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("runtime", KNOWN)
@pytest.mark.parametrize("row", [row for row in ELEMENT_TYPES if row.numpy_name], ids=str)
def test_every_type_agrees_or_diverges_as_known(row, runtime):
    result = cross_check(layer_model(row), runtimes=[runtime])
    known, status = KNOWN[runtime].get(row.name, (None, Status.PASSED))
    statuses = {
        comparison.status
        for comparison in result.layers[0].comparisons
        if comparison.divergences == ((known,) if known else ())
    }
    assert statuses == {status}
    assert set(result.divergences) <= {known, *OF_INDICES, "quieted-nan" if row.name == "f16" else known}
    assert result.passed == (status is not Status.NOT_APPLICABLE)  # there is nothing else to compare with


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("f64", [1e300, -1e300, np.inf, np.nan, 1e-300, 1e-40, -0.0]),
        ("f32", [1e-40, -1e-40, -0.0, 1.0, np.inf]),
        ("i64", [2**31, -(2**31) - 1, 2**62, 5]),
        ("u64", [2**31, 2**64 - 1, 5]),
        ("u32", [2**31, 2**32 - 1, 5]),
        ("bf16", [1e-40, -0.0, 1.0]),
        ("f16", np.array([0x7C01, 0xFE00, 0x3C00], np.uint16).view(np.float16)),
    ],
)
@pytest.mark.parametrize("as_constant", [False, True])
def test_divergences_predict_openvino_bit_by_bit(name, values, as_constant):
    row = by_name(name)
    data = np.array(values, row.dtype)
    sizes = str(len(values))
    indices = np.arange(len(values))
    model = layer_model(row, sizes, sizes, 0, data if as_constant else None)
    comparison = only(cross_check(model, [indices] if as_constant else [data, indices]))
    keeps_bf16 = name == "bf16" and all(arithmetic.bf16 for arithmetic in arithmetics_here())
    agrees = keeps_bf16 or (name in ("f32", "u32", "bf16") and not as_constant)
    assert comparison.status is (Status.PASSED if agrees else Status.EXPECTED), str(comparison)


def instead_of_openvino(monkeypatch, name):
    monkeypatch.setitem(isolated.RUNTIMES, "openvino", ("helpers.artificial_openvino", name))
    monkeypatch.setattr(isolated, "_idle", defaultdict(list))


def test_an_unexplained_difference_fails(monkeypatch):
    instead_of_openvino(monkeypatch, "Wrong")
    for row in (F32, I64):
        result = cross_check(layer_model(row), cases=1)
        assert not result.passed
        kernel, openvino = result.layers[0].comparisons
        assert (kernel.status, openvino.status) == (Status.PASSED, Status.FAILED)
        assert "output[1, 2, 3]: expected " in openvino.detail
        where = openvino.difference
        assert (where.position, where.count, where.size) == ((1, 2, 3), 1, 150)
        if row is F32:
            assert float(where.found) == pytest.approx(float(where.expected) + 1)
        assert [(i, j) for i, row in enumerate(where.picture) for j, share in enumerate(row) if share] == [(6, 3)]


def test_an_unexplained_crash_fails_and_the_next_layer_is_compared(monkeypatch):
    instead_of_openvino(monkeypatch, "CrashesOnce")
    result = cross_check(SAMPLES / "valid" / "if_bodies.xml", runtimes=["openvino"], cases=2)
    crashed, fine = ([str(comparison) for comparison in layer.comparisons] for layer in result.layers)
    assert crashed == ["FAILED (crashes: SIGSEGV)"] * 2
    assert fine[0] == "passed"
    assert [layer.passed for layer in result.layers] == [False, True]


def test_an_answer_where_our_kernel_refuses_fails_and_ends_the_process(monkeypatch):
    instead_of_openvino(monkeypatch, "Lenient")
    data, indices = np.zeros((3, 7, 5), np.float32), np.full((3, 10, 5), 7)
    processes = set()
    for _ in range(2):
        comparison = only(cross_check(layer_model(F32), [data, indices]))
        assert comparison.status is Status.FAILED
        assert comparison.detail.startswith("answers, but reference: indices[0, 0, 0] = 7 is out of bounds")
        (runtime,) = isolated._idle["openvino", ()]
        assert not runtime._worker.alive
        processes.add(runtime._worker._process.pid)
    assert len(processes) == 2


def test_nothing_to_compare_with_is_a_failure():
    result = cross_check(layer_model(by_name("u2")), runtimes=["openvino", "extension"])
    (layer,) = result.layers
    assert {comparison.status for comparison in layer.comparisons} == {Status.NOT_APPLICABLE}
    assert not result.passed
    assert "no other runtime can execute this" in layer.problem


@pytest.mark.parametrize("runtime", ["openvino", "extension"])
def test_indices_beyond_32_bits_act_as_their_lower_half(runtime):
    data, indices = np.arange(105, dtype=np.float32).reshape(3, 7, 5), np.full((3, 10, 5), 2**32 + 1)
    comparison = only(cross_check(layer_model(F32), [data, indices], runtimes=[runtime]), runtime)
    assert comparison.divergences == ("narrowed-to-32-bits",)
    assert "indices[0, 0, 0] = 4294967297 is out of bounds" in comparison.detail


def test_an_empty_axis_is_not_executed():
    comparison = only(cross_check(layer_model(F32, "0", "3", 0), [np.zeros(0, np.float32), np.zeros(3, np.int64)]))
    assert comparison.divergences == ("not-executed-when-empty",)


@pytest.mark.parametrize(("data", "indices"), [("0", "3"), ("?", "?")])
def test_our_operation_is_executed_on_an_empty_axis(data, indices):
    """Our operation refuses an empty axis, as no index is valid there."""
    arrays = [np.zeros(0, np.float32), np.zeros(3, np.int64)]
    comparison = only(cross_check(layer_model(F32, data, indices, 0), arrays, runtimes=["extension"]), "extension")
    assert (comparison.status, comparison.detail, comparison.divergences) == (Status.PASSED, "both refuse", ())


def test_given_inputs_out_of_bounds_are_refused_by_both():
    data, indices = np.zeros((3, 7, 5), np.float32), np.full((3, 10, 5), 7)
    comparison = only(cross_check(layer_model(F32), [data, indices]))
    assert (comparison.status, comparison.detail) == (Status.PASSED, "both refuse")


def test_given_inputs_that_do_not_fit_are_refused():
    data, indices = np.zeros((3, 7, 5), np.float32), np.zeros((3, 10, 5), np.int64)
    for inputs, error, text in (
        ([data], ValueError, "1 inputs are given; the layer needs data and indices"),
        ([data.astype(np.float16), indices], TypeError, "data must be f32, not float16"),
        ([data, indices.astype(np.int32)], TypeError, "indices must be i64, not int32"),
        ([data, indices[:, :4]], ValueError, r"indices has shape \[3, 4, 5\]; the layer declares"),
        ([1.0, 2], (TypeError, ValueError), "data"),
    ):
        with pytest.raises(error, match=text):
            cross_check(layer_model(F32), inputs)


@pytest.mark.parametrize("size", [10, 1000, 100_000])
def test_inputs_need_not_be_contiguous_nor_outlive_the_call(size):
    indices = np.arange(2 * size)[::-2] // 2
    numbers = np.arange(2 * size, dtype=np.float32)[::2]
    small = (np.arange(size) % 7).astype(by_name("i4").dtype)
    for element_type, values in ((F32, numbers), (by_name("i4"), small)):
        model = layer_model(element_type, str(size), str(size), 0)
        assert only(cross_check(model, [values, indices])).status is Status.PASSED


def test_inputs_for_several_layers_are_refused():
    with pytest.raises(ValueError, match="there are 2 gather-family layers"):
        cross_check(SAMPLES / "valid" / "if_bodies.xml", [np.zeros(1)])
    with pytest.raises(ValueError, match="no runtime 'tensorrt'"):
        cross_check(SAMPLES / "valid" / "spec_layer.xml", runtimes=["tensorrt"])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.data())
def test_random_layers_agree(rank, data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    axis = data.draw(st.integers(-rank, rank - 1))
    index_sizes = list(sizes)
    index_sizes[axis] = data.draw(st.integers(1, 6))
    dynamic = data.draw(st.booleans())

    def text(sizes):
        return ",".join("?" if dynamic else str(size) for size in sizes)

    rng = np.random.default_rng(0)
    inputs = [rng.random(sizes, np.float32), rng.integers(-sizes[axis], sizes[axis], index_sizes)]
    result = cross_check(layer_model(F32, text(sizes), text(index_sizes), axis), inputs)
    assert result.passed, str(only(result))


def test_opsets_that_hold_gather_elements():
    text = (SAMPLES / "valid" / "spec_layer.xml").read_text()
    for number in range(1, LATEST_OPSET + 3):
        changed = text.replace("opset6", f"opset{number}").encode()
        try:
            ov.Core().read_model(changed, b"")
            reads = True
        except RuntimeError:
            reads = False
        assert reads == (validate(changed) == []), number


def test_no_false_alarm_on_what_openvino_writes(tmp_path):
    body_data, body_index = opset8.parameter([2, -1], np.float16), opset8.parameter([-1, -1], np.int32)
    names = ov.op.Constant(ov.Tensor(np.array([["a", "b,c"]])))
    gathered = opset6.gather_elements(body_data, body_index, -1, name="a 'quoted' \"name\" <&>")
    gathered.output(0).get_tensor().set_names({"first,second", "third"})
    halves = opset8.split(opset8.convert(gathered, "f32"), opset8.constant(1), 2)
    words = opset8.gather(names, opset8.constant([1]), opset8.constant(1))
    model = ov.Model([halves.output(0), halves.output(1), words.output(0)], [body_data, body_index], "mödel")
    for save in (ov.serialize, ov.save_model):
        path = tmp_path / "model.xml"
        save(model, path)
        assert validate(path) == []
        again = read_ir(path)
        write_ir(again, tmp_path / "copy.xml")
        assert read_ir(tmp_path / "copy.xml") == again
        ov.Core().read_model(tmp_path / "copy.xml")


@pytest.mark.parametrize("name", ["u4", "i4"])
def test_small_constants_are_unpacked_as_openvino_packs_them(name, tmp_path):
    packed = np.array([0x21, 0x43, 0xF5], np.uint8)
    tensor = ov.Tensor(packed, [5], getattr(ov.Type, name))
    model = ov.Model([opset8.convert(ov.op.Constant(tensor), "i32")], [], "model")
    ov.serialize(model, tmp_path / "m.xml")
    ours = read_ir(tmp_path / "m.xml")
    theirs = ov.Core().compile_model(model, "CPU", F32_HINT)()[0]
    np.testing.assert_array_equal(constant(ours, ours.layers[0]).astype(np.int32), theirs)


def reducing(operation, reduction, kind):
    """A scatter into 5 rows of 4 that reduces, whose data, indices and updates are open."""
    x, u = opset12.parameter([5, 4], kind, name="x"), opset12.parameter([3, 4], kind, name="u")
    if operation == "ScatterElementsUpdate":
        i = opset12.parameter([3, 4], np.int32, name="i")
        return ov.Model([opset12.scatter_elements_update(x, i, u, opset12.constant(0), reduction)], [x, i, u])
    i = opset15.parameter([3, 1], np.int32, name="i")
    return ov.Model([opset15.scatter_nd_update(x, i, u, reduction)], [x, i, u])


REDUCING = [("ScatterElementsUpdate", name) for name in ("sum", "prod", "min", "max", "mean")]
REDUCING += [("ScatterNDUpdate", name) for name in ("sum", "sub", "prod", "min", "max")]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("kind", (ov.Type.f32, ov.Type.f16, ov.Type.bf16, ov.Type.f64), ids=ov.Type.get_type_name)
@pytest.mark.parametrize(("operation", "reduction"), REDUCING)
def test_check_shows_that_nan_loses_min_and_max(operation, reduction, kind, tmp_path):
    ov.save_model(reducing(operation, reduction, kind), tmp_path / "m.xml", compress_to_fp16=False)
    result = cross_check(tmp_path / "m.xml", runtimes=("kernel", "openvino", "extension"))
    cases = [case for case in result.layers[0].cases if "NaN" in case.name]
    found = {(one.runtime, name) for case in cases for one in case.comparisons for name in one.divergences}
    assert cases
    assert result.passed
    assert {name for runtime, name in found if runtime == "kernel"} == set()
    if kind != ov.Type.bf16:  # which the plugin rounds in its own way, too
        assert (("openvino", "scattered-otherwise") in found) == (reduction in ("min", "max"))


@pytest.mark.onnxruntime
@pytest.mark.parametrize("kind", [ov.Type.f32, ov.Type.f64], ids=ov.Type.get_type_name)
@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max"])
@pytest.mark.parametrize("operation", ["ScatterElementsUpdate", "ScatterNDUpdate"])
def test_check_shows_that_nan_loses_in_onnxruntime(operation, reduction, kind, tmp_path):
    ov.save_model(reducing(operation, reduction, kind), tmp_path / "m.xml", compress_to_fp16=False)
    result = cross_check(tmp_path / "m.xml", runtimes=("kernel", "onnxruntime"))
    assert result.passed
    assert ("nan-loses-in-onnxruntime" in result.divergences) == (reduction in ("min", "max"))

"""Inputs that are made up for converted models: sizes that both runtimes accept, and what can be said where there are none."""

import numpy as np
import onnx
import onnx_ir
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.bisecting import converted
from helpers.openvino_models import made_of, number
from helpers.saved_models import parsed, saved
from ov_gather import read_ir
from ov_gather.crosscheck.inputs import ir, openvino
from ov_gather.crosscheck.inputs.onnx import made_up_inputs
from ov_gather.crosscheck.models.intermediates import load
from ov_gather.crosscheck.models.nondeterminism import dependents, random_nodes
from ov_gather.crosscheck.models.outputs import compare_outputs
from ov_gather.crosscheck.models.verify import verify_conversion
from ov_gather.crosscheck.results import Status
from ov_gather.runtimes.session import Session

pytestmark = pytest.mark.onnxruntime


def verify(source):
    return verify_conversion(source, converted(source.with_suffix(".xml"), source))


def test_pictures_whose_sizes_must_be_a_multiple_of_eight(tmp_path):
    """The model shrinks a picture by 8, enlarges it again and adds both: of 6 pixels nothing would be left to add."""
    text = """(float[n,3,height,w] x) => (float[] y) {
        small = MaxPool<kernel_shape = [8, 8], strides = [8, 8]>(x) large = Resize<mode = "nearest">(small, , scales)
        y = Add(x, large) }"""
    result = verify(saved(tmp_path / "m.onnx", text, scales=np.float32([1, 1, 8, 8])))
    assert result.passed, result
    assert result.outputs[0].shape == (6, 3, 64, 64)


def test_sizes_without_names_that_must_be_equal_and_long(tmp_path):
    """As silero-vad declares them; the mode 16,000 chooses the branch that is computed."""
    text = """(float[a,b] x, float[c,4] state, int64 rate) => (float[] z) {
        last = Constant<value_ints = [0, 0, 0, 64]>() usual = Constant<value = int64 {16000}>() is_usual = Equal(rate, usual)
        y = If(is_usual) <
            then_branch = t () => (float[] p) { longer = Pad<mode = "reflect">(x, last) p = MatMul(longer, weights) },
            else_branch = e () => (float[] q) { q = Identity(state) }
        > z = Add(y, state) }"""
    path = saved(tmp_path / "m.onnx", text, weights=np.ones((320, 4), np.float32))
    model = onnx.load(path)
    for given in model.graph.input:
        for dim in given.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")
    onnx.save(model, path)
    result = verify(path)
    assert result.passed, result
    assert result.outputs[0].shape == (256, 4)
    assert result.inputs["rate"] == 16_000


def test_sizes_that_only_onnxruntime_accepts_are_told_and_others_tried(tmp_path):
    text = """(float[n,3,height,w] x) => (float[] y) { small = MaxPool<kernel_shape = [32, 32], strides = [32, 32]>(x)
        y = AveragePool<kernel_shape = [3, 3], pads = [0, 0, 0, 0]>(small) }"""
    result = verify(saved(tmp_path / "m.onnx", text))
    assert result.passed, result
    assert result.outputs[0].shape == (1, 3, 5, 5)
    (note,) = result.notes
    assert note.startswith(
        "for inputs of x [6, 3, 64, 64]: openvino does not execute the result: AvgPool 'y': Kernel after dilation has size"
    )


@pytest.mark.parametrize(
    "body",
    [
        "y = Unique<sorted = 0>(x)",
        "k = Constant<value_ints = [2]>() v, y = TopK(x, k)",
        "c = Cast<to = 6>(x) y = NonZero(c)",
        "f = Constant<value_ints = [-1]>() r = Reshape(x, f) y = Equal(r, r)",
    ],
)
def test_elements_that_are_searched_have_ties_zeros_and_fractions(body, tmp_path):
    """Of what is drawn normally, no two are equal, none is 0: a known fault would not show."""
    path = saved(tmp_path / "m.onnx", f"(float[40] x) => (y) {{ {body} }}")
    made = next(made_up_inputs(load(path), 7))["x"]
    assert len(np.unique(made)) < made.size and (made == 0).any() and (made % 1 != 0).any()
    parameter = ops.parameter([40], np.float32)
    (found,) = openvino.generate_inputs(ov.Model([ops.unique(parameter).output(0)], [parameter]))
    assert len(np.unique(found)) < found.size


def test_what_the_names_of_dimensions_relate_stays_related(tmp_path):
    text = """(float[batch,2,past,4] past, float[batch,2,new,4] new, float[batch,sum,1] mask) => (float[] y) {
        all = Concat<axis = 2>(past, new) wide = Unsqueeze(mask, one) y = Mul(all, wide) }"""
    proto = parsed(text, one=[1])
    proto.graph.input[2].type.tensor_type.shape.dim[1].dim_param = "past + new"
    onnx.save(proto, path := tmp_path / "m.onnx")
    made = next(made_up_inputs(load(path), 0))
    assert made["past"].shape[2] + made["new"].shape[2] == made["mask"].shape[1]
    assert verify(path).passed


def test_without_names_sizes_are_equal(tmp_path):
    proto = parsed("(float[p,q,4] a, float[r,s,4] b) => (float[] y) { y = Add(a, b) }")
    for given in proto.graph.input:
        for dim in given.type.tensor_type.shape.dim[:2]:
            dim.ClearField("dim_param")
    proto.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "?x y"
    onnx.save(proto, tmp_path / "m.onnx")
    assert verify(tmp_path / "m.onnx").passed


def test_sizes_that_a_long_kernel_asks_for(tmp_path):
    text = "(float[n,1,samples] x) => (float[] y) { y = Conv<strides = [64]>(x, w) }"
    result = verify(saved(tmp_path / "m.onnx", text, w=np.ones((2, 1, 256), np.float32)))
    assert result.passed, result
    assert result.outputs[0].shape[2] > 0


def test_bytes_are_bytes_and_classes_are_within_their_number(tmp_path):
    text = """(uint8[4000] bytes, int32[4000] classes, int32[4000,1] labels, int64[4000] mask, float[n,2] x, int64[4000] rows)
        => (float[] y, float[] z, float[] m, float[] r, bool[] e) {
        y = Cast<to = 1>(bytes) wide = Cast<to = 7>(classes) z = OneHot(wide, depth, values) e = Equal(labels, row)
        m = Cast<to = 1>(mask) r = Gather(x, rows) }"""
    constants = {"row": np.arange(-1, 9, dtype=np.int32), "depth": 257, "values": np.float32([0, 1])}
    path = saved(tmp_path / "m.onnx", text, **constants)
    made = next(made_up_inputs(load(path), 0))
    ranges = {name: (int(array.min()), int(array.max())) for name, array in made.items() if name != "x"}
    assert ranges == {"bytes": (0, 255), "classes": (0, 256), "labels": (-1, 8), "mask": (0, 1), "rows": (0, 5)}


def indexing(rows, shifted, places, tuples, written, mask, numbers):
    """Outputs whose inputs are indices in each way that OpenVINO has, after other layers, and some that are no indices."""
    return [
        ops.gather(np.zeros((50, 4, 3), np.float32), ops.convert(rows, "i32"), 0),
        ops.gather(np.zeros((50, 4, 3), np.float32), ops.squeeze(ops.add(shifted, number(100)), 1), 2),
        ops.gather_elements(np.zeros((9, 4), np.float32), places, 0),
        ops.gather_nd(np.zeros((20, 30, 4), np.float32), tuples),
        ops.scatter_update(np.zeros(7, np.float32), written, np.zeros(4000, np.float32), 0),
        ops.add(mask, mask),
        ops.convert(numbers, "f32"),
    ]


INDEXING = {
    **{"rows": "i64[4000]", "shifted": "i64[4000,1]", "places": "i64[4000,4]", "tuples": "i64[500,2]"},
    **{"written": "i64[4000]", "mask": "i64[4000]", "numbers": "u8[4000]"},
}


@pytest.mark.parametrize("kind", ["openvino", "ir"])
def test_indices_of_every_kind_stay_in_bounds_and_reach_them(tmp_path, kind):
    model = made_of(indexing, **INDEXING)
    if kind == "ir":
        ov.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
        made = ir.generate_inputs(read_ir(tmp_path / "m.xml"), 0)
    else:
        made = openvino.generate_inputs(model, 0)
    assert {name: (int(array.min()), int(array.max())) for name, array in zip(INDEXING, made, strict=True)} == {
        "rows": (0, 49),
        "shifted": (-100, -98),
        "places": (0, 8),
        "tuples": (0, 19),
        "written": (0, 6),
        "mask": (0, 1),
        "numbers": (0, 255),
    }
    assert len(Session(ov.Core(), model)(made)) == 7


def test_no_inputs_for_a_shape_that_is_open():
    with pytest.raises(ValueError, match=r"input 'data' is \[\?,3\]: inputs are made up for static shapes"):
        openvino.generate_inputs(made_of(ops.relu, data="f32[?,3]"))


def test_random_values_are_named_and_nothing_else_is_excused(tmp_path):
    text = """(float[n,4] x) => (float[] y, float[] z) {
        [dice] noise = RandomNormalLike(x) y = Add(x, noise) z = Mul(x, two) }"""
    path = saved(tmp_path / "m.onnx", text, two=np.float32(2))
    result = verify(path)
    noisy, right = (output.comparison for output in result.outputs)
    assert result.passed, result
    assert (noisy.status, noisy.divergences) == (Status.EXPECTED, ("random-values",))
    assert "it depends on RandomNormalLike 'dice'" in noisy.detail
    assert right.status is Status.PASSED
    wrong = converted(tmp_path / "w.xml", saved(tmp_path / "w.onnx", text, two=np.float32(3)))
    result = verify_conversion(path, wrong)
    assert [output.comparison.status for output in result.outputs] == [Status.EXPECTED, Status.FAILED]


def test_random_nodes_in_bodies_reach_what_the_body_gives_out():
    text = """(bool c, float[2] x) => (float[] behind, float[] beside) {
        chosen = If (c) <then_branch = a () => (float[2] p) { p = RandomUniform<shape = [2]>() },
                         else_branch = b () => (float[2] q) { q = RandomUniform<shape = [2]>() }>
        behind = Relu(chosen) beside = Dropout(x) }"""
    whole = onnx_ir.from_proto(parsed(text))
    assert [node.op_type for node in random_nodes(whole)] == ["RandomUniform", "RandomUniform"]
    found = dependents(whole, random_nodes(whole)).keys()
    assert {"chosen", "behind", "p", "q"} <= found
    assert "beside" not in found


@pytest.mark.parametrize(
    ("operator", "is_exact"), [("ReverseSequence", True), ("Where", True), ("Gather", True), ("Relu", False), ("Max", False)]
)
def test_a_model_that_only_moves_numbers_is_exact(operator, is_exact):
    whole = onnx_ir.from_proto(parsed(f"(float[3] x, float[3] y) => (float[3] z) {{ z = {operator}(x, y) }}"))
    expected, found = np.ones(3, np.float32), np.float32([1, 1, 1.00001])
    (result,) = compare_outputs(whole, [expected], [found], "openvino")
    assert result.comparison.passed != is_exact


def test_where_rounding_decides_everything_it_is_said(tmp_path):
    """The model makes numbers that are nearly the same for all pixels differ by 1 on average."""
    rng = np.random.default_rng(0)
    text = """(float[1,3,16,16] x) => (float[] y) { less = Mul(x, tiny) shifted = Add(less, much) c = Conv(shifted, w)
        scaled = Mul(c, b) y = InstanceNormalization<epsilon = 1e-12>(scaled, scale, bias) }"""
    constants = {"w": rng.random((8, 3, 3, 3), np.float32), "b": rng.random((8, 1, 1), np.float32)}
    constants |= {"tiny": np.float32(1e-6), "much": np.float32(1000), "scale": np.ones(8, "f4"), "bias": np.zeros(8, "f4")}
    result = verify(saved(tmp_path / "m.onnx", text, **constants))
    (output,) = result.outputs
    assert (output.comparison.status, output.comparison.divergences) == (Status.EXPECTED, ("rounding-decides",)), output
    assert result.passed

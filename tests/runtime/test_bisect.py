"""`bisect` names the node at which two models differ, and writes a model that shows it."""

import math
import random
import shlex
from dataclasses import replace

import numpy as np
import onnx
import openvino as ov
import pytest
from onnx import TensorProto, helper

import ov_gather
from helpers.bisecting import again, as_ir, bisected, converted, planted, written
from helpers.planting import with_attribute, with_element
from helpers.saved_models import saved
from ov_gather.crosscheck.bisect.ir_side import IRSide
from ov_gather.crosscheck.bisect.onnx_side import OnnxSide
from ov_gather.ir.reader import read_ir
from ov_gather.report.bisect.text import render

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """A model with two branches of many nodes each, which meet at its end, and the IR that it becomes."""
    folder = tmp_path_factory.mktemp("chain")
    nodes, constants, rng = [], {}, np.random.default_rng(1)
    for branch in "ab":
        last = "x"
        for name in (f"{branch}{i}" for i in range(12)):
            constants[f"{name}_w"] = (rng.standard_normal((8, 8)) / 3).astype(np.float32)
            nodes.append(f'["{name}/matmul"] {name}_m = MatMul({last}, {name}_w)')
            nodes.append(f'["{name}/tanh"] {name}_t = Tanh({name}_m) ["{name}/sub"] {name} = Sub({name}_t, {last})')
            last = name
    nodes.append("[end] y = Concat<axis = 1>(a11, b11)")
    source = saved(folder / "m.onnx", f"(float[4,8] x) => (float[] y) {{ {' '.join(nodes)} }}", **constants)
    return source, converted(folder / "m.xml", source)


def test_a_right_model_passes(chains):
    result = ov_gather.bisect(*chains)
    assert result.passed
    assert result.node == ""
    assert [(output.name, output.outcome) for output in result.outputs] == [("y", "")]


def test_equal_outputs_need_one_run_of_each_model_and_identical_models_one(chains, monkeypatch):
    """A model of 50,000 nodes takes OpenVINO half a minute to compile."""
    runs = []
    for side in (IRSide, OnnxSide):
        original = side.observe
        monkeypatch.setattr(
            side, "observe", lambda self, *given, original=original, **more: runs.append(self) or original(self, *given, **more)
        )
    for reference, precision, count in ((chains[0], "f32", 2), (chains[1], "f32", 1), (chains[1], "bf16", 2)):
        runs.clear()
        assert ov_gather.bisect(reference, chains[1], precision=precision).passed
        assert len(runs) == len(set(map(id, runs))) == count


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["a0/matmul", "b9/matmul", "a11/sub"])
def test_the_node_is_named_in_few_runs(chains, tmp_path, name):
    """The fault is in one of two branches: at their beginning, in the midst, at their end."""
    kind = "attribute" if "matmul" in name else "operands"
    wrong, result = bisected(chains, tmp_path, kind, name, reproducers=tmp_path / "found")
    assert not result.passed
    assert result.node == f"{wrong.layer.type} '{name}'"
    assert result.culprits[0].nodes == (result.node,)
    assert result.culprits[0].kind == "node"
    assert all((value.outcome, value.other) == ("equal", value.name) for value in result.culprits[0].inputs)
    assert result.runs <= 2 + 2 * math.log2(result.nodes)


def test_the_reproducer_shows_the_fault_alone(chains, tmp_path):
    """The reproducer is executed without our code, and by the command that is told."""
    _, result = bisected(chains, tmp_path, "attribute", "a7/matmul", reproducers=tmp_path / "found")
    folder = tmp_path / "found" / "a7_m"
    assert result.reproducer == str(folder)
    import onnxruntime

    with np.load(folder / "inputs.npz") as file:
        inputs = dict(file)
    (expected,) = onnxruntime.InferenceSession(folder / "reference.onnx").run(None, inputs)
    (found,) = ov.compile_model(folder / "model.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(inputs).values()
    assert expected.shape[0] == 1  # of the 4 rows one is enough
    assert np.abs(expected - found).max() > 0.1
    assert len(onnx.load(folder / "reference.onnx").graph.node) == 1
    assert again(folder).node == "MatMul 'a7/matmul'"
    command = shlex.split(result.culprits[0].command)
    assert command[:2] == ["ov-gather", "bisect"]
    assert [str(folder / name) for name in ("reference.onnx", "model.xml", "inputs.npz")] == [
        word for word in command if str(folder) in word
    ]


def test_an_element_of_a_constant(chains, tmp_path):
    source, ir = chains
    model = read_ir(ir)
    (matmul,) = (layer for layer in model.layers if layer.name == "b4/matmul")
    weights = next(source for layer, _, source, _ in model.links if layer is matmul and source.type == "Const")
    wrong = with_element(model, weights, random.Random(0))
    result = ov_gather.bisect(source, written(tmp_path / "wrong.xml", wrong.model))
    assert result.node == "MatMul 'b4/matmul'"
    assert len(result.culprits[0].constants) == 1
    assert f"constant '{weights.name}'" in result.culprits[0].constants[0]
    assert "1 of 64 differ" in result.culprits[0].constants[0]


def test_models_that_differ_in_the_bin_alone_are_not_identical(chains, tmp_path):
    wrong = tmp_path / "wrong.xml"
    wrong.write_bytes(chains[1].read_bytes())
    weights = np.fromfile(chains[1].with_suffix(".bin"), np.uint8)
    weights[: 8 * 8 * 4].view(np.float32)[:] = 7
    weights.tofile(wrong.with_suffix(".bin"))
    result = ov_gather.bisect(chains[1], wrong)
    assert not result.passed
    assert "MatMul" in result.node
    assert not result.notes


def test_two_irs_without_common_names(chains, tmp_path):
    """Values correspond by structure where nobody has named them alike."""
    model = read_ir(chains[1])
    wrong = planted(model, "operands", "a9/sub")
    layers = []
    for layer in wrong.model.layers:
        ports = tuple(replace(port, attributes={}) for port in layer.outputs)
        name = layer.name if layer.type == "Parameter" else f"renamed_{layer.id}"
        layers.append(replace(layer, name=name, outputs=ports))
    result = ov_gather.bisect(chains[1], written(tmp_path / "wrong.xml", replace(wrong.model, layers=tuple(layers))))
    assert result.node == f"Subtract 'renamed_{wrong.layer.id}'"
    assert result.culprits[0].reference_node == "Subtract 'a9/sub'"
    assert result.culprits[0].inputs[0].how == "structure"
    assert result.runs <= 2 + 2 * math.log2(result.nodes)


def test_expected_values_of_elsewhere(chains, tmp_path, rng):
    """A .npz has the output, and some values inside: the nodes between two of them are named together."""
    import onnxruntime

    source, ir = chains
    model = read_ir(ir)
    wrong = planted(model, "operands", "a9/sub")
    original = onnx.load(source)
    for name in ("a5", "a8", "a10", "b10"):
        original.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    x = rng.standard_normal((4, 8)).astype(np.float32)
    session = onnxruntime.InferenceSession(original.SerializeToString())
    arrays = dict(zip([given.name for given in session.get_outputs()], session.run(None, {"x": x}), strict=True))
    np.savez(tmp_path / "expected.npz", x=x, **arrays)
    result = ov_gather.bisect(
        tmp_path / "expected.npz", written(tmp_path / "wrong.xml", wrong.model), reproducers=tmp_path / "found"
    )
    assert "Subtract 'a9/sub'" in result.culprits[0].nodes
    assert [value.name for value in result.culprits[0].inputs] == ["a8"]
    assert result.culprits[0].output.name == "a10"
    folder = tmp_path / "found" / "a10"
    assert not ov_gather.bisect(folder / "expected.npz", folder / "model.xml").passed
    assert ov_gather.bisect(tmp_path / "expected.npz", ir).passed


@pytest.mark.exhaustive
def test_every_first_difference_is_found_if_asked(chains, tmp_path):
    source, ir = chains
    model = read_ir(ir)
    for name in ("a1/sub", "b7/sub", "a9/sub"):
        model = planted(model, "operands", name).model
    result = ov_gather.bisect(source, written(tmp_path / "wrong.xml", model), every=True)
    assert {culprit.node for culprit in result.culprits} == {f"Subtract '{name}'" for name in ("a1/sub", "b7/sub", "a9/sub")}
    assert len(result.culprits) == 3


def test_memory_bounds_what_is_observed(chains, tmp_path, monkeypatch):
    """There is room for two values of [4, 8] floats on both sides, and no run observes more."""
    from ov_gather.crosscheck.bisect.ir_side import IRSide

    observed = []
    original = IRSide.observe
    monkeypatch.setattr(
        IRSide, "observe", lambda side, values, **how: observed.append(len(values)) or original(side, values, **how)
    )
    _, result = bisected(chains, tmp_path, "attribute", "b9/matmul", memory=2 * 2 * 4 * 8 * 4)
    assert result.node == "MatMul 'b9/matmul'"
    assert max(observed) == 2


def test_a_tile_with_repeats_of_the_run(tmp_path, rng):
    """A Tile of rank 4 whose repeats are an input."""
    text = """(float[2,2,2,2] x, int64[4] repeats) => (float[] y) {
        [before] positive = Abs(x) [tile] tiled = Tile(positive, repeats) [behind] y = Neg(tiled) }"""
    inputs = {"x": rng.standard_normal((2, 2, 2, 2)).astype(np.float32), "repeats": np.array([3, 3, 3, 3])}
    result = ov_gather.bisect(*as_ir(tmp_path, text), inputs, reproducers=tmp_path / "found")
    assert (result.node, result.culprits[0].kind) == ("Tile 'tile'", "node")
    assert not again(tmp_path / "found" / "tiled").passed


def test_a_stock_gather_out_of_bounds(tmp_path):
    """onnxruntime refuses the index, and OpenVINO gives zeros: here they differ."""
    text = """(int64[2] i) => (float[] y) {
        [next] index = Add(i, one) [look_up] rows = Gather(table, index) [behind] y = Neg(rows) }"""
    source, ir = as_ir(tmp_path, text, table=np.arange(12, dtype=np.float32).reshape(4, 3), one=1)
    assert ov_gather.bisect(source, ir, {"i": np.array([0, 2])}).passed
    result = ov_gather.bisect(source, ir, {"i": np.array([0, 3])}, reproducers=tmp_path / "found")
    assert result.node == "Gather 'look_up'"
    assert result.culprits[0].kind == "refusal"
    assert "the reference refuses it, and the model does not" in result.culprits[0].detail
    assert "out of" in result.culprits[0].detail
    assert again(tmp_path / "found" / "rows").node == "Gather 'look_up'"


def test_a_model_that_is_refused_in_the_midst(chains, tmp_path):
    """The IR gathers out of bounds, with a GatherElements, which OpenVINO checks; the reference does not."""
    text = """(float[2,4] x) => (float[] y) {
        [first] a = Tanh(x) [take] b = GatherElements<axis = 1>(a, i) [second] c = Neg(b) [last] y = Tanh(c) }"""
    source, ir = as_ir(tmp_path, text, i=[[0, 2], [1, 3]])
    model = read_ir(ir)
    (take,) = (layer for layer in model.layers if layer.name == "take")
    wrong = with_attribute(model, take, "axis", "0")
    result = ov_gather.bisect(source, written(tmp_path / "wrong.xml", wrong.model), reproducers=tmp_path / "found")
    assert result.node == "GatherElements 'take'"
    assert result.culprits[0].kind == "refusal"
    assert "the model refuses it, and the reference does not" in result.culprits[0].detail
    assert result.reproducer


def test_what_rounding_decides_is_no_fault(tmp_path, rng):
    """The best of equal numbers: which one it is, the model does not say."""
    text = """(float[200,64] x) => (int64[] y) {
        [scores] scores = MatMul(x, w) [best] y = ArgMax<axis = 1, keepdims = 0>(scores) }"""
    w = rng.standard_normal((64, 4)).astype(np.float32)
    result = ov_gather.bisect(*as_ir(tmp_path, text, w=np.concatenate([w, w * np.float32(1 + 1e-7), w], axis=1)))
    assert result.node == ""
    assert result.passed


@pytest.mark.parametrize("noise", ["RandomNormalLike", "Abs"], ids=["of both", "of the model"])
def test_a_random_output_is_not_compared(noise, tmp_path):
    def source(operator):
        text = f"[dice] noise = {operator}(x) [add] y = Add(x, noise) [neg] z = Neg(x)"
        return saved(tmp_path / f"{operator}.onnx", f"(float[20] x) => (float[] y, float[] z) {{ {text} }}")

    result = ov_gather.bisect(source(noise), converted(tmp_path / "m.xml", source("RandomNormalLike")))
    assert result.passed
    assert any("output 'y' is not compared" in note and "makes it random" in note for note in result.notes)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_an_output_that_ignores_its_random_part_is_compared(is_wrong, tmp_path):
    """Only what differs from itself is random: here noise is multiplied by 0."""

    def source(name, operator):
        text = f"""(float[20] x) => (float[] y) {{
            [zero] zero = Constant<value = float {{0}}> () [dice] noise = RandomNormalLike(x) [mul] none = Mul(noise, zero)
            [add] sum = Add(x, none) [last] y = {operator}(sum) }}"""
        return saved(tmp_path / f"{name}.onnx", text)

    result = ov_gather.bisect(source("a", "Neg"), converted(tmp_path / "m.xml", source("b", "Exp" if is_wrong else "Neg")))
    assert not result.not_run
    assert result.passed is not is_wrong
    assert result.node == ("Exp 'y'" if is_wrong else "")


def test_models_with_other_inputs(chains, tmp_path):
    source = saved(tmp_path / "m.onnx", "(float[2] p, float[2] q) => (float[] r) { r = Add(p, q) }")
    with pytest.raises(ValueError, match="the reference has p, q, the model x"):
        ov_gather.bisect(source, chains[1])


def test_low_precision_is_no_fault_and_a_fault_in_low_precision_is_found(chains, tmp_path):
    assert ov_gather.bisect(*chains, precision="bf16").passed
    assert bisected(chains, tmp_path, "operands", "a9/sub", precision="bf16")[1].node == "Subtract 'a9/sub'"


def test_a_crash_in_the_midst(tmp_path):
    """OpenVINO dies of a Gather whose static indices have no elements."""
    text = "(float[4,2] x, int64[0] i) => (float[] y) { [first] a = Tanh(x) [none] b = Gather(a, i) [last] y = Neg(b) }"
    result = ov_gather.bisect(*as_ir(tmp_path, text), reproducers=tmp_path / "found")
    assert result.node == "Gather 'none'"
    assert result.culprits[0].kind == "crash"
    assert "SIGFPE" in result.culprits[0].detail
    assert again(tmp_path / "found" / "b").culprits[0].kind == "crash"


def test_an_output_that_is_a_wrong_constant(tmp_path):
    text = "(float[4] x) => (float[] y, float[] z) { [neg] y = Neg(x) [same] z = Identity(c) }"
    source, ir = as_ir(tmp_path, text, c=np.arange(4, dtype=np.float32))
    model = read_ir(ir)
    layer = next(source for layer, _, source, _ in model.links if layer.type == "Result" and source.type == "Const")
    result = ov_gather.bisect(source, written(tmp_path / "wrong.xml", with_element(model, layer, random.Random(0)).model))
    assert result.node == f"Const '{layer.name}'"


def test_a_reference_that_differs_from_itself_excuses_what_is_no_worse(tmp_path, monkeypatch):
    """An output is off by 5%, and the reference by 3% where it computes plainly: that is told."""
    from ov_gather.crosscheck.bisect.onnx_side import OnnxSide

    text = "(float[4] x) => (float[] y) { [scale] y = Mul(x, c) }"
    source, other = (saved(tmp_path / f"{name}.onnx", text, c=np.float32([c])) for name, c in (("m", 2), ("o", 2.1)))
    observe = OnnxSide.observe

    def unsteady(side, values, *, plain=False):
        found = observe(side, values, plain=plain)
        return {value: array * np.float32(1.03) for value, array in found.items()} if plain else found

    monkeypatch.setattr(OnnxSide, "observe", unsteady)
    result = ov_gather.bisect(source, converted(tmp_path / "o.xml", other), {"x": np.float32([1, 2, 3, 4])})
    assert result.passed
    assert "4 of 4 differ" in result.outputs[0].outcome
    assert result.outputs[0].excuse.startswith("the reference differs as much from itself")


def test_a_gather_of_constants_before_a_matmul(tmp_path, rng):
    """OpenVINO's MatMul reads what the gather gives in the wrong layout, as in Funnel; alone, and observed, it is right."""
    data, index = rng.standard_normal((12, 3, 5)).astype(np.float32), rng.integers(0, 12, (12, 3, 5))
    text = """(float[2,7,3,5] x) => (float[] y) {
        [before] before = Tanh(x) [take] rows = GatherElements<axis = 0>(data, index)
        [scores] scores = Einsum<equation = "binh,tnh->bnit">(before, rows) [behind] y = Neg(scores) }"""
    result = ov_gather.bisect(*as_ir(tmp_path, text, data=data, index=index), reproducers=tmp_path / "found")
    assert result.node == "Einsum 'scores'"
    assert result.culprits[0].kind == "fusion"
    assert result.culprits[0].nodes == ("GatherElements 'take'", "Einsum 'scores'")
    assert not again(result.reproducer).passed


@pytest.mark.parametrize("pad", [200, 60_000])
def test_sizes_are_tried_until_the_reference_accepts_them(pad, tmp_path):
    """A Pad that reflects 200 elements needs more of them; nothing is told of a comparison if no size suffices."""
    text = f"""(float[n,m] x) => (float[] y) {{
        pads = Constant<value_ints = [0, 0, 0, {pad}]>() y = Pad<mode = "reflect">(x, pads) }}"""
    result = ov_gather.bisect(*as_ir(tmp_path, text))
    told = [line for line in render(result) if isinstance(line, str)]
    if pad == 200:
        assert result.passed and result.input_shapes["x"] == "float32[1, 512]"
        return
    assert result.not_run.startswith("the reference accepts none of the inputs that were made up")
    assert len(told) == 2 and told[1].startswith("openvino ")


def test_a_reference_without_a_kernel_is_not_compared(tmp_path):
    """onnxruntime has no GridSample with a grid in f64."""
    text = "(float[1,1,4,4] x, double[1,4,4,2] grid) => (float[] y) { [sample] y = GridSample(x, grid) }"
    given = {"x": np.zeros((1, 1, 4, 4), np.float32), "grid": np.zeros((1, 4, 4, 2))}
    result = ov_gather.bisect(*as_ir(tmp_path, text), given)
    assert result.not_run.startswith("the reference cannot be executed: ")
    assert not result.passed

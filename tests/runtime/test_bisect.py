"""`bisect` names the node at which two models part, and writes a model that shows it."""

from __future__ import annotations

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
from helpers.planting import candidates, with_attribute, with_element
from helpers.saved_models import save
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]


def converted(path, source):
    ov.save_model(ov.convert_model(source), path, compress_to_fp16=False)
    return path


def chain(path, length=12):
    """A model with two branches of many nodes each, which meet at its end."""
    nodes, constants, rng = [], {}, np.random.default_rng(1)
    for branch in "ab":
        last = "x"
        for i in range(length):
            name = f"{branch}{i}"
            constants[f"{name}_w"] = (rng.standard_normal((8, 8)) / 3).astype(np.float32)
            nodes.append(helper.make_node("MatMul", [last, f"{name}_w"], [f"{name}_m"], name=f"{name}/matmul"))
            nodes.append(helper.make_node("Tanh", [f"{name}_m"], [f"{name}_t"], name=f"{name}/tanh"))
            nodes.append(helper.make_node("Sub", [f"{name}_t", last], [name], name=f"{name}/sub"))
            last = name
    last = f"{length - 1}"
    nodes.append(helper.make_node("Concat", [f"a{last}", f"b{last}"], ["y"], axis=1, name="end"))
    return save(path, nodes, [("x", TensorProto.FLOAT, [4, 8])], [("y", TensorProto.FLOAT)], constants)


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    source = chain(folder / "m.onnx")
    return source, converted(folder / "m.xml", source)


def layer_named(model, name):
    return next(layer for layer in model.layers if layer.name == name)


def planted(tmp_path, planted):
    write_ir(planted.model, tmp_path / "wrong.xml")
    return tmp_path / "wrong.xml"


def test_a_right_model_passes(chains):
    result = ov_gather.bisect(*chains)
    assert result.passed
    assert result.node == ""
    assert [(output.name, output.outcome) for output in result.outputs] == [("y", "")]


@pytest.mark.parametrize("name", ["a0/matmul", "b9/matmul", "a11/sub"])
def test_the_node_is_named_in_few_runs(chains, tmp_path, name):
    """The fault is in one of two branches: at their beginning, in the midst, at their end."""
    source, ir = chains
    model = read_ir(ir)
    kind = "attribute" if "matmul" in name else "operands"
    wrong = next(way for way in candidates(model, kind) if way(None).layer.name == name)(None)
    result = ov_gather.bisect(source, planted(tmp_path, wrong), reproducers=tmp_path / "found")
    assert not result.passed
    assert result.node == f"{wrong.layer.type} '{name}'"
    assert result.partings[0].nodes == (result.node,)
    assert result.partings[0].kind == "node"
    assert all((value.outcome, value.other) == ("equal", value.name) for value in result.partings[0].inputs)
    assert result.runs <= 2 + 2 * math.log2(result.nodes)


def test_the_reproducer_shows_the_fault_alone(chains, tmp_path):
    """The reproducer is executed without our code, and by the command that is told."""
    source, ir = chains
    model = read_ir(ir)
    wrong = next(way for way in candidates(model, "attribute") if way(None).layer.name == "a7/matmul")(None)
    result = ov_gather.bisect(source, planted(tmp_path, wrong), reproducers=tmp_path / "found")
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
    again = ov_gather.bisect(folder / "reference.onnx", folder / "model.xml", inputs)
    assert again.node == "MatMul 'a7/matmul'"
    command = shlex.split(result.partings[0].command)
    assert command[:2] == ["ov-gather", "bisect"]
    assert [str(folder / name) for name in ("reference.onnx", "model.xml", "inputs.npz")] == [
        word for word in command if str(folder) in word
    ]


def test_an_element_of_a_constant(chains, tmp_path):
    source, ir = chains
    model = read_ir(ir)
    matmul = layer_named(model, "b4/matmul")
    weights = next(source for layer, _, source, _ in model.links if layer is matmul and source.type == "Const")
    wrong = with_element(model, weights, random.Random(0))
    result = ov_gather.bisect(source, planted(tmp_path, wrong))
    assert result.node == "MatMul 'b4/matmul'"
    assert len(result.partings[0].constants) == 1
    assert f"constant '{weights.name}'" in result.partings[0].constants[0]
    assert "1 of 64 differ" in result.partings[0].constants[0]


def test_two_irs_without_common_names(chains, tmp_path):
    """Values correspond by structure where nobody has named them alike."""
    model = read_ir(chains[1])
    wrong = next(way for way in candidates(model, "operands") if way(None).layer.name == "a9/sub")(None)
    layers = []
    for layer in wrong.model.layers:
        ports = tuple(replace(port, attributes={}) for port in layer.outputs)
        name = layer.name if layer.type == "Parameter" else f"renamed_{layer.id}"
        layers.append(replace(layer, name=name, outputs=ports))
    write_ir(replace(wrong.model, layers=tuple(layers)), tmp_path / "wrong.xml")
    result = ov_gather.bisect(chains[1], tmp_path / "wrong.xml")
    assert result.node == f"Subtract 'renamed_{wrong.layer.id}'"
    assert result.partings[0].reference_node == "Subtract 'a9/sub'"
    assert result.partings[0].inputs[0].how == "structure"
    assert result.runs <= 2 + 2 * math.log2(result.nodes)


def test_expected_values_of_elsewhere(chains, tmp_path, rng):
    """A .npz has the output, and some values inside: the nodes between two of them are named together."""
    import onnxruntime

    source, ir = chains
    model = read_ir(ir)
    wrong = next(way for way in candidates(model, "operands") if way(None).layer.name == "a9/sub")(None)
    original = onnx.load(source)
    for name in ("a5", "a8", "a10", "b10"):
        original.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    x = rng.standard_normal((4, 8)).astype(np.float32)
    session = onnxruntime.InferenceSession(original.SerializeToString())
    arrays = dict(zip([given.name for given in session.get_outputs()], session.run(None, {"x": x}), strict=True))
    np.savez(tmp_path / "expected.npz", x=x, **arrays)
    result = ov_gather.bisect(tmp_path / "expected.npz", planted(tmp_path, wrong), reproducers=tmp_path / "found")
    assert "Subtract 'a9/sub'" in result.partings[0].nodes
    assert [value.name for value in result.partings[0].inputs] == ["a8"]
    assert result.partings[0].output.name == "a10"
    again = ov_gather.bisect(tmp_path / "found" / "a10" / "expected.npz", tmp_path / "found" / "a10" / "model.xml")
    assert not again.passed
    assert ov_gather.bisect(tmp_path / "expected.npz", ir).passed


def test_every_first_difference_is_found_if_asked(chains, tmp_path):
    source, ir = chains
    model = read_ir(ir)
    for name in ("a1/sub", "b7/sub", "a9/sub"):
        model = next(way for way in candidates(model, "operands") if way(None).layer.name == name)(None).model
    write_ir(model, tmp_path / "wrong.xml")
    result = ov_gather.bisect(source, tmp_path / "wrong.xml", every=True)
    assert {parting.node for parting in result.partings} == {f"Subtract '{name}'" for name in ("a1/sub", "b7/sub", "a9/sub")}
    assert len(result.partings) == 3


def test_memory_bounds_what_is_observed(chains, tmp_path, monkeypatch):
    """There is room for two values of [4, 8] floats on both sides, and no run observes more."""
    from ov_gather.crosscheck.bisect.ir_side import IRSide

    source, ir = chains
    observed = []
    original = IRSide.observe
    monkeypatch.setattr(
        IRSide, "observe", lambda side, values, **how: observed.append(len(values)) or original(side, values, **how)
    )
    wrong = next(way for way in candidates(read_ir(ir), "attribute") if way(None).layer.name == "b9/matmul")(None)
    result = ov_gather.bisect(source, planted(tmp_path, wrong), memory=2 * 2 * 4 * 8 * 4)
    assert result.node == "MatMul 'b9/matmul'"
    assert max(observed) == 2


def tile(path):
    """A Tile of rank 4 whose repeats are an input."""
    nodes = [
        helper.make_node("Abs", ["x"], ["positive"], name="before"),
        helper.make_node("Tile", ["positive", "repeats"], ["tiled"], name="tile"),
        helper.make_node("Neg", ["tiled"], ["y"], name="behind"),
    ]
    inputs = [("x", TensorProto.FLOAT, [2, 2, 2, 2]), ("repeats", TensorProto.INT64, [4])]
    return save(path, nodes, inputs, [("y", TensorProto.FLOAT)], {})


def test_a_tile_with_repeats_of_the_run(tmp_path, rng):
    source = tile(tmp_path / "m.onnx")
    inputs = {"x": rng.standard_normal((2, 2, 2, 2)).astype(np.float32), "repeats": np.array([3, 3, 3, 3])}
    result = ov_gather.bisect(source, converted(tmp_path / "m.xml", source), inputs, reproducers=tmp_path / "found")
    assert result.node == "Tile 'tile'"
    assert result.partings[0].kind == "node"
    folder = tmp_path / "found" / "tiled"
    with np.load(folder / "inputs.npz") as file:
        assert not ov_gather.bisect(folder / "reference.onnx", folder / "model.xml", dict(file)).passed


def test_a_stock_gather_out_of_bounds(tmp_path):
    """onnxruntime refuses the index, and OpenVINO gives zeros: here they part."""
    nodes = [
        helper.make_node("Add", ["i", "one"], ["index"], name="next"),
        helper.make_node("Gather", ["table", "index"], ["rows"], name="look_up"),
        helper.make_node("Neg", ["rows"], ["y"], name="behind"),
    ]
    constants = {"table": np.arange(12, dtype=np.float32).reshape(4, 3), "one": np.array(1)}
    source = save(tmp_path / "m.onnx", nodes, [("i", TensorProto.INT64, [2])], [("y", TensorProto.FLOAT)], constants)
    ir = converted(tmp_path / "m.xml", source)
    assert ov_gather.bisect(source, ir, {"i": np.array([0, 2])}).passed
    result = ov_gather.bisect(source, ir, {"i": np.array([0, 3])}, reproducers=tmp_path / "found")
    assert result.node == "Gather 'look_up'"
    assert result.partings[0].kind == "refusal"
    assert "the reference refuses it, and the model does not" in result.partings[0].detail
    assert "out of" in result.partings[0].detail
    folder = tmp_path / "found" / "rows"
    with np.load(folder / "inputs.npz") as file:
        assert ov_gather.bisect(folder / "reference.onnx", folder / "model.xml", dict(file)).node == "Gather 'look_up'"


def test_a_model_that_is_refused_in_the_midst(chains, tmp_path):
    """The IR gathers out of bounds, with a GatherElements, which OpenVINO checks; the reference does not."""
    nodes = [
        helper.make_node("Tanh", ["x"], ["a"], name="first"),
        helper.make_node("GatherElements", ["a", "i"], ["b"], name="take", axis=1),
        helper.make_node("Neg", ["b"], ["c"], name="second"),
        helper.make_node("Tanh", ["c"], ["y"], name="last"),
    ]
    constants = {"i": np.array([[0, 2], [1, 3]])}
    source = save(tmp_path / "m.onnx", nodes, [("x", TensorProto.FLOAT, [2, 4])], [("y", TensorProto.FLOAT)], constants)
    model = read_ir(converted(tmp_path / "m.xml", source))
    wrong = with_attribute(model, layer_named(model, "take"), "axis", "0")
    result = ov_gather.bisect(source, planted(tmp_path, wrong), reproducers=tmp_path / "found")
    assert result.node == "GatherElements 'take'"
    assert result.partings[0].kind == "refusal"
    assert "the model refuses it, and the reference does not" in result.partings[0].detail
    assert result.reproducer


def test_what_rounding_decides_is_no_fault(tmp_path, rng):
    """The best of equal numbers: which one it is, the model does not say."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"], name="scores"),
        helper.make_node("ArgMax", ["scores"], ["y"], name="best", axis=1, keepdims=0),
    ]
    w = rng.standard_normal((64, 4)).astype(np.float32)
    constants = {"w": np.concatenate([w, w * np.float32(1 + 1e-7), w], axis=1)}
    source = save(tmp_path / "m.onnx", nodes, [("x", TensorProto.FLOAT, [200, 64])], [("y", TensorProto.INT64)], constants)
    result = ov_gather.bisect(source, converted(tmp_path / "m.xml", source))
    assert result.node == ""
    assert result.passed


@pytest.mark.parametrize("noise", ["RandomNormalLike", "Abs"], ids=["of both", "of the model"])
def test_a_random_output_is_not_compared(noise, tmp_path):
    def source(operator):
        nodes = [
            helper.make_node(operator, ["x"], ["noise"], name="dice"),
            helper.make_node("Add", ["x", "noise"], ["y"], name="add"),
            helper.make_node("Neg", ["x"], ["z"], name="neg"),
        ]
        outputs = [("y", TensorProto.FLOAT), ("z", TensorProto.FLOAT)]
        return save(tmp_path / f"{operator}.onnx", nodes, [("x", TensorProto.FLOAT, [20])], outputs, {})

    result = ov_gather.bisect(source(noise), converted(tmp_path / "m.xml", source("RandomNormalLike")))
    assert result.passed
    assert any("output 'y' is not compared" in note and "makes it random" in note for note in result.notes)


def test_models_with_other_inputs(chains, tmp_path):
    source = save(
        tmp_path / "m.onnx",
        [helper.make_node("Add", ["p", "q"], ["r"])],
        [("p", TensorProto.FLOAT, [2]), ("q", TensorProto.FLOAT, [2])],
        [("r", TensorProto.FLOAT)],
        {},
    )
    with pytest.raises(ValueError, match="the reference has p, q, the model x"):
        ov_gather.bisect(source, chains[1])


def test_low_precision_is_no_fault_and_a_fault_in_low_precision_is_found(chains, tmp_path):
    source, ir = chains
    assert ov_gather.bisect(source, ir, precision="bf16").passed
    wrong = next(way for way in candidates(read_ir(ir), "operands") if way(None).layer.name == "a9/sub")(None)
    assert ov_gather.bisect(source, planted(tmp_path, wrong), precision="bf16").node == "Subtract 'a9/sub'"


def test_a_crash_in_the_midst(tmp_path):
    """OpenVINO dies of a Gather whose static indices have no elements."""
    nodes = [
        helper.make_node("Tanh", ["x"], ["a"], name="first"),
        helper.make_node("Gather", ["a", "i"], ["b"], name="none"),
        helper.make_node("Neg", ["b"], ["y"], name="last"),
    ]
    inputs = [("x", TensorProto.FLOAT, [4, 2]), ("i", TensorProto.INT64, [0])]
    source = save(tmp_path / "m.onnx", nodes, inputs, [("y", TensorProto.FLOAT)], {})
    result = ov_gather.bisect(source, converted(tmp_path / "m.xml", source), reproducers=tmp_path / "found")
    assert result.node == "Gather 'none'"
    assert result.partings[0].kind == "crash"
    assert "SIGFPE" in result.partings[0].detail
    folder = tmp_path / "found" / "b"
    with np.load(folder / "inputs.npz") as file:
        assert ov_gather.bisect(folder / "reference.onnx", folder / "model.xml", dict(file)).partings[0].kind == "crash"


def test_an_output_that_is_a_wrong_constant(tmp_path):
    nodes = [helper.make_node("Neg", ["x"], ["y"], name="neg"), helper.make_node("Identity", ["c"], ["z"], name="same")]
    outputs = [("y", TensorProto.FLOAT), ("z", TensorProto.FLOAT)]
    constants = {"c": np.arange(4, dtype=np.float32)}
    source = save(tmp_path / "m.onnx", nodes, [("x", TensorProto.FLOAT, [4])], outputs, constants)
    model = read_ir(converted(tmp_path / "m.xml", source))
    layer = next(source for layer, _, source, _ in model.links if layer.type == "Result" and source.type == "Const")
    result = ov_gather.bisect(source, planted(tmp_path, with_element(model, layer, random.Random(0))))
    assert result.node == f"Const '{layer.name}'"


def test_a_reference_that_differs_from_itself_excuses_what_is_no_worse(tmp_path, monkeypatch):
    """An output is off by 5%, and the reference by 3% where it computes plainly: that is told."""
    from ov_gather.crosscheck.bisect.onnx_side import OnnxSide

    nodes = [helper.make_node("Mul", ["x", "c"], ["y"], name="scale")]
    source = save(
        tmp_path / "m.onnx", nodes, [("x", TensorProto.FLOAT, [4])], [("y", TensorProto.FLOAT)], {"c": np.float32([2])}
    )
    other = save(
        tmp_path / "o.onnx", nodes, [("x", TensorProto.FLOAT, [4])], [("y", TensorProto.FLOAT)], {"c": np.float32([2.1])}
    )
    observe = OnnxSide.observe

    def unsteady(side, values, *, plain=False):
        found = observe(side, values, plain=plain)
        return {value: array * np.float32(1.03) for value, array in found.items()} if plain else found

    monkeypatch.setattr(OnnxSide, "observe", unsteady)
    result = ov_gather.bisect(source, converted(tmp_path / "o.xml", other), {"x": np.float32([1, 2, 3, 4])})
    assert result.passed
    assert "4 of 4 differ" in result.outputs[0].outcome
    assert result.outputs[0].excuse.startswith("the reference itself is off as far")


def test_a_gather_of_constants_before_a_matmul(tmp_path, rng):
    """OpenVINO's MatMul reads what the gather gives in the wrong layout, as in Funnel; alone, and observed, it is right."""
    data, index = rng.standard_normal((12, 3, 5)).astype(np.float32), rng.integers(0, 12, (12, 3, 5))
    nodes = [
        helper.make_node("Tanh", ["x"], ["before"], name="before"),
        helper.make_node("GatherElements", ["data", "index"], ["rows"], name="take", axis=0),
        helper.make_node("Einsum", ["before", "rows"], ["scores"], name="scores", equation="binh,tnh->bnit"),
        helper.make_node("Neg", ["scores"], ["y"], name="behind"),
    ]
    inputs, outputs = [("x", TensorProto.FLOAT, [2, 7, 3, 5])], [("y", TensorProto.FLOAT)]
    source = save(tmp_path / "m.onnx", nodes, inputs, outputs, {"data": data, "index": index})
    result = ov_gather.bisect(source, converted(tmp_path / "m.xml", source), reproducers=tmp_path / "found")
    assert result.node == "Einsum 'scores'"
    assert result.partings[0].kind == "fusion"
    assert result.partings[0].nodes == ("GatherElements 'take'", "Einsum 'scores'")
    with np.load(f"{result.reproducer}/inputs.npz") as file:
        assert not ov_gather.bisect(f"{result.reproducer}/reference.onnx", f"{result.reproducer}/model.xml", dict(file)).passed


def test_a_reference_without_a_kernel_is_not_compared(tmp_path):
    """onnxruntime has no GridSample with a grid in f64."""
    nodes = [helper.make_node("GridSample", ["x", "grid"], ["y"], name="sample")]
    inputs = [("x", TensorProto.FLOAT, [1, 1, 4, 4]), ("grid", TensorProto.DOUBLE, [1, 4, 4, 2])]
    source = save(tmp_path / "m.onnx", nodes, inputs, [("y", TensorProto.FLOAT)], {})
    given = {"x": np.zeros((1, 1, 4, 4), np.float32), "grid": np.zeros((1, 4, 4, 2))}
    result = ov_gather.bisect(source, converted(tmp_path / "m.xml", source), given)
    assert result.not_run.startswith("the reference cannot be executed: ")
    assert not result.passed

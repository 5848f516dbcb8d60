"""`convert --verify` on what onnxruntime's `quantize_dynamic` makes of random models: right conversions pass, wrong ones fail.

A wrong conversion is one of the same model whose rows of weights are swapped. That it is wrong is decided without OpenVINO: the
two models differ in onnxruntime by more than the quantisation changes.
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from helpers.bisecting import converted
from ov_gather.crosscheck.models.verify import verify_conversion

TRIALS = 8
SECONDS = 90
SIZE = 24
TABLE = 40
_LAYERS = ("MatMul", "MatMul", "Relu", "Tanh", "LSTM", "Conv")


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Quantise a random model; verify its conversion, and that of another model."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.disable()
    floats, quantised = folder / "floats.onnx", folder / "m.onnx"
    names = _write(rng, floats)
    kind = QuantType.QInt8 if rng.integers(2) else QuantType.QUInt8
    quantize_dynamic(floats, quantised, weight_type=kind, per_channel=bool(rng.integers(2)))
    feeds = {"i": rng.integers(0, TABLE, (5, 3))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = verify_conversion(quantised, converted(folder / "m.xml", quantised), inputs=feeds)
    assert right.passed, f"{names}, {kind}: {right.outputs}"
    wrong = folder / "wrong.onnx"
    _swap_rows(rng, quantised, wrong)
    here, there, exact = (_executed(path, feeds) for path in (quantised, wrong, floats))
    if np.abs(here - there).max() <= 2 * np.abs(here - exact).max() + 1e-3 * np.abs(here).max():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = verify_conversion(quantised, converted(folder / "wrong.xml", wrong), inputs=feeds)
    assert not result.passed, f"{names}, {kind}: {result.outputs}"


def _write(rng: np.random.Generator, path: Path) -> list[str]:
    """Write a model: an embedding of 5 sequences of 3 tokens, and a few layers."""
    table = rng.standard_normal((TABLE, SIZE)).astype(np.float32)
    nodes, tensors = [helper.make_node("Gather", ["table", "i"], ["x0"])], {"table": table}
    chosen = ["MatMul", *(str(name) for name in rng.choice(_LAYERS, rng.integers(0, 4)))]
    for number, layer in enumerate(chosen):
        data, made = f"x{number}", f"x{number + 1}"
        weights, scale = f"w{number}", np.float32(1 / np.sqrt(SIZE))
        if layer == "MatMul":
            tensors[weights] = rng.standard_normal((SIZE, SIZE)).astype(np.float32) * scale
            nodes.append(helper.make_node("MatMul", [data, weights], [made]))
        elif layer == "Conv":  # over the tokens, which are the last axis then
            tensors[weights] = rng.standard_normal((SIZE, SIZE, 1)).astype(np.float32) * scale
            nodes += [
                helper.make_node("Transpose", [data], [f"t{number}"], perm=[0, 2, 1]),
                helper.make_node("Conv", [f"t{number}", weights], [f"c{number}"]),
                helper.make_node("Transpose", [f"c{number}"], [made], perm=[0, 2, 1]),
            ]
        elif layer == "LSTM":
            for name in ("W", "R"):
                tensors[f"{name}{number}"] = rng.standard_normal((1, 4 * SIZE, SIZE)).astype(np.float32) * scale
            lstm = [data, f"W{number}", f"R{number}"]
            nodes.append(helper.make_node("LSTM", lstm, [f"s{number}"], hidden_size=SIZE))
            tensors[f"a{number}"] = np.array([1])
            nodes.append(helper.make_node("Squeeze", [f"s{number}", f"a{number}"], [made]))
        else:
            nodes.append(helper.make_node(layer, [data], [made]))
    last = f"x{len(chosen)}"
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("i", onnx.TensorProto.INT64, [5, 3])],
        [helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, [5, 3, SIZE])],
        [numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return chosen


def _swap_rows(rng: np.random.Generator, source: Path, output: Path) -> None:
    model = onnx.load(source)
    stored = [each for each in model.graph.initializer if each.name.endswith("_quantized") and "table" not in each.name]
    tensor = stored[rng.integers(len(stored))]
    array = numpy_helper.to_array(tensor).copy()
    array[..., [0, 1], :] = array[..., [1, 0], :]
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    onnx.save(model, output)


def _executed(path: Path, feeds: dict[str, NDArray[Any]]) -> NDArray[Any]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found: NDArray[Any] = session.run(None, feeds)[0]
    return found

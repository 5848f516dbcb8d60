"""`bisect` on random models, with or without a fault in the IR: it names and reproduces the fault, or passes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnxruntime
import openvino as ov

from helpers.bisect_pairs import make_pair, plant
from helpers.planting import is_named
from ov_gather import bisect
from ov_gather.ir.writer import write_ir

TRIALS = 5
SECONDS = 120
SHOWN = 1e-3
"""Minimum error of an output that shows the fault, relative to the output's largest number."""


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Bisect a model and its conversion, first as it is, then with a fault."""
    pair = make_pair(rng, folder)
    right = bisect(pair.source, pair.path, pair.inputs)
    assert right.passed, f"a right model is blamed: {right.culprits or right.outputs or right.not_run}"
    planted = plant(pair, random.Random(int(rng.integers(1 << 30))))
    if planted is None:
        return
    wrong = folder / "wrong.xml"
    write_ir(planted.model, wrong)
    found = bisect(pair.source, wrong, pair.inputs, reproducers=folder / "found")
    told = f"{planted.what} in {planted.layer.type} '{planted.layer.name}': {found.culprits or found.outputs}"
    assert found.culprits, told
    assert is_named(planted, found.culprits[0]) == (True, 1), told
    if planted.layer.type in ("Loop", "TensorIterator"):
        assert "Its body gives the same" in found.culprits[0].detail, told
    else:
        assert "gives the same" not in found.culprits[0].detail, told
    assert found.reproducer, told
    assert _is_shown(Path(found.reproducer)), told


def _is_shown(folder: Path) -> bool:
    """Execute both models of a reproducer on their runtimes directly; return True if an output differs."""
    with np.load(folder / "inputs.npz") as file:
        arrays = dict(file)
    session = onnxruntime.InferenceSession(folder / "reference.onnx", providers=["CPUExecutionProvider"])
    (right,) = session.run(None, {given.name: arrays[given.name] for given in session.get_inputs()})
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    request = ov.Core().compile_model(folder / "model.xml", "CPU", options).create_infer_request()
    request.start_async({given: arrays[given.get_node().get_friendly_name()] for given in request.model_inputs})
    request.wait()
    (wrong,) = (request.get_tensor(output).data for output in request.model_outputs)
    off = np.abs(right.astype(np.float64).ravel() - wrong.astype(np.float64).ravel())
    return bool((off > SHOWN * np.abs(right).max(initial=0)).any())

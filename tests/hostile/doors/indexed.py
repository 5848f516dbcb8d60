"""Operators that read at an index and are no gathers: an index out of bounds, near or far, is never read in silence.

ONNX models go through `compile_onnx`; the oracle of indices in bounds is onnxruntime. OpenVINO's go through `prove` and
`harden`; the oracle is the operation itself at indices in bounds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino as ov

import ov_gather
from helpers.indexed_models import ONNX_CASES, OPENVINO_CASES, OnnxCase, OpenvinoCase
from helpers.legalized import run
from ov_gather.converters import compile_onnx
from ov_gather.runtimes.session import Session

TRIALS = 40
SECONDS = 60


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Read at one index of an operator, mostly out of bounds."""
    if rng.random() < 0.5:
        name = str(rng.choice(list(ONNX_CASES)))
        _attack_onnx(rng, name, ONNX_CASES[name])
    else:
        name = str(rng.choice(list(OPENVINO_CASES)))
        _attack_openvino(rng, name, OPENVINO_CASES[name])


def _index(rng: np.random.Generator, case: OnnxCase | OpenvinoCase) -> int:
    """Return an index: in bounds, beside them, far out, or near the limits of 32 bits (SegmentMax has no upper bound)."""
    legal = int(rng.integers(case.low, min(case.high, 2**20)))
    found = rng.choice([legal, case.low - 1, case.high, case.high + int(rng.integers(2**24)), -(2**31), 2**31 - 2])
    return min(int(found), 2**31 - 2)


def _attack_onnx(rng: np.random.Generator, name: str, case: OnnxCase) -> None:
    index = _index(rng, case)
    feed = case.feed(rng, index)
    shown = f"{name} at {index} of {case.low}..{case.high - 1}"
    compiled = compile_onnx(case.proto)
    try:
        outputs = [np.asarray(array) for array in dict(compiled(feed)).values()]
    except IndexError:
        assert not case.low <= index < case.high, f"{shown}: refused"
        return
    assert case.low <= index < case.high, f"{shown}: accepted"
    for array, expected in zip(outputs, run(case.proto, feed), strict=True):
        np.testing.assert_allclose(array, expected, 1e-4, 1e-5, err_msg=shown)


def _attack_openvino(rng: np.random.Generator, name: str, case: OpenvinoCase) -> None:
    index = _index(rng, case)
    data = rng.random(case.data).astype(np.float32)
    indices = np.full(case.indices, case.low, np.int32)
    indices[(-1,) * indices.ndim] = index
    policy, portable = str(rng.choice(["raise", "clamp", "zero"])), bool(rng.random() < 0.5)
    shown = f"{name} at {index} of {case.low}..{case.high - 1}, {policy}, portable {portable}"
    proofs = [proof for proof in ov_gather.prove(case.model()) if proof.status != "proved"]
    assert [dict(proof.requires) for proof in proofs] == [{"i": (case.low, case.high - 1)}], f"{shown}: {proofs}"
    is_open = bool(rng.random() < 0.3)
    core, model = ov_gather.register(ov.Core()), case.model(is_open=is_open)
    ov_gather.harden(model, policy=policy, portable=portable)
    is_legal = case.low <= index < case.high
    try:
        (output,) = Session(core, model)([data, indices])
    except (RuntimeError, IndexError):
        assert not is_legal, f"{shown}: refused"
        assert policy != "clamp", f"{shown}: refused"
        return
    assert is_legal or policy == "clamp", f"{shown}: accepted"
    (expected,) = Session(ov.Core(), case.model(is_open=is_open))([data, np.clip(indices, case.low, case.high - 1)])
    np.testing.assert_array_equal(output, expected, err_msg=shown)

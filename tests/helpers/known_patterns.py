"""Models beside what they compute: a fault is met if and only if OpenVINO computes something else, and bounds hold always."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op

from helpers.range_analysis import beyond
from ov_gather import validate
from ov_gather.rules.releases import RELEASES

FUSED = ("OVG710", "OVG711")
"""The rules of patterns that OpenVINO fuses or folds wrongly."""


def constant(*values: Any, dtype: Any = np.int64) -> ov.Node:
    return op.constant(np.array(values, dtype))


def check(
    path: Path,
    outputs: Sequence[ov.Node] | ov.Model,
    inputs: Sequence[ov.Node] | None,
    feeds: Sequence[NDArray],
    expected: Sequence[NDArray],
    rules: Sequence[str] = FUSED,
) -> None:
    """Assert that a model, which is written to a path, is warned of if one of its outputs is wrong, and only then."""
    model = outputs if isinstance(outputs, ov.Model) else ov.Model(outputs, inputs)
    ov.save_model(model, path, compress_to_fp16=False)
    warned = [finding.message for finding in validate(path, target=RELEASES[-1], select=rules)]
    found = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(feeds).to_tuple()
    assert beyond(model, feeds, found) == []
    right = all(_same(found[i], values) for i, values in enumerate(expected))
    assert right is not bool(warned), (warned, [found[i] for i in range(len(expected))], expected)


Case = tuple[Sequence[ov.Node], Sequence[ov.Node], Sequence[NDArray], Sequence[NDArray]]
"""Outputs, inputs, feeds, and what is expected."""


def check_each(path: Path, cases: Mapping[str, Case]) -> None:
    """Assert of each of several models that it is warned of if one of its outputs is wrong, and only then.

    They have nothing in common, and become one model, which is compiled once.
    """
    models = {name: ov.Model(outputs, inputs) for name, (outputs, inputs, _, _) in cases.items()}
    for name, model in models.items():
        for node in model.get_ops():
            node.set_friendly_name(f"{name}/{node.get_friendly_name()}")
    results = [result for model in models.values() for result in model.get_results()]
    parameters = [parameter for model in models.values() for parameter in model.get_parameters()]
    whole = ov.Model(results, parameters, "model")
    ov.save_model(whole, path, compress_to_fp16=False)
    warned = {finding.location.layer_name.partition("/")[0] for finding in validate(path, target=RELEASES[-1], select=FUSED)}
    feeds = [feed for _, _, arrays, _ in cases.values() for feed in arrays]
    outputs = ov.compile_model(whole, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(feeds).to_tuple()
    assert beyond(whole, feeds, outputs) == []
    found = iter(outputs)
    pairs = {name: [(next(found), values) for values in expected] for name, (*_, expected) in cases.items()}
    wrong = {name for name, each in pairs.items() if not all(_same(*pair) for pair in each)}
    assert warned == wrong, (warned - wrong, wrong - warned)


def _same(found: NDArray, expected: NDArray) -> bool:
    if found.shape != np.shape(expected):
        return False
    return np.allclose(found, expected, atol=1e-4) if found.dtype.kind == "f" else np.array_equal(found, expected)

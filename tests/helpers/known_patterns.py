"""Models beside what they compute: a known fault is to be reported if, and only if, OpenVINO computes something else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op

from ov_gather import validate
from ov_gather.rules.releases import RELEASES


def constant(*values: Any, dtype: Any = np.int64) -> ov.Node:
    return op.constant(np.array(values, dtype))


def check(
    path: Path,
    outputs: Sequence[ov.Node] | ov.Model,
    inputs: Sequence[ov.Node] | None,
    feeds: Sequence[NDArray],
    expected: Sequence[NDArray],
    rules: Sequence[str] = ("OVG710", "OVG711"),
) -> None:
    """Assert that a model, which is written to a path, is warned of if one of its outputs is wrong, and only then."""
    model = outputs if isinstance(outputs, ov.Model) else ov.Model(outputs, inputs)
    ov.save_model(model, path, compress_to_fp16=False)
    warned = [finding.message for finding in validate(path, target=RELEASES[-1], select=rules)]
    found = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(feeds)
    right = all(_same(found[i], values) for i, values in enumerate(expected))
    assert right is not bool(warned), (warned, [found[i] for i in range(len(expected))], expected)


def _same(found: NDArray, expected: NDArray) -> bool:
    if found.shape != np.shape(expected):
        return False
    return np.allclose(found, expected, atol=1e-4) if found.dtype.kind == "f" else np.array_equal(found, expected)

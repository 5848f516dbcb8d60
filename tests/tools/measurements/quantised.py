"""Quantise real architectures, NAMES or all, and compare what is accelerated or converted with stock, in f32.

Exports models of `real_models.py` to DIRECTORY, quantises each with NNCF (int8, 4-bit weights, QDQ), accelerates or converts
these, and executes all in worker processes. Fails if a result differs or does not run. Needs `.[models,test]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from helpers.quantising import SAME, accelerated, converted, to_int4, to_int8, to_qdq
from tools.measurements import chosen
from tools.real_models import MODELS, export

COLUMNS = ("model", "quantised to", "way", "result")
NAMES = [name for name in MODELS if name != "funnel"]
"""Not Funnel: stock OpenVINO misreads one of its gathers, so its results are no reference."""

KINDS: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
    ("int8", to_int8, accelerated),
    ("4-bit weights", to_int4, accelerated),
    ("QDQ", to_qdq, converted),
]


def measure(directory: Path, *names: str) -> Iterator[tuple[object, ...]]:
    failures = 0
    for name in chosen(names, NAMES):
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        source = export(name, folder)
        torch.manual_seed(0)
        inputs = {key: np.asarray(value) for key, value in MODELS[name]()[1].items()}
        for kind, make, compare in KINDS:
            try:
                quantised = make(source, inputs)
            except Exception as error:  # NNCF and OpenVINO raise errors without a common base
                yield name, kind, "", f"NNCF cannot make it: {type(error).__name__}"
                continue
            for way, found in compare(quantised, inputs, folder):
                yield name, kind, way, found
                failures += found != SAME
    if failures:
        sys.exit(f"{failures} results differ or do not run")

"""Measure `accelerate` on real families of models, NAMES or all, in f32 and in OpenVINO's default precision.

Each is exported to DIRECTORY with random weights if it is not there, converted as by ovc (with `--fp16`, weights are float16,
OpenVINO's default), and measured before and after by turns, as by `ov-gather bench model`. Downloads nothing. Needs
`.[models]`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import openvino as ov
import torch

import ov_gather
from ov_gather.bench.model import measure as measured
from tools import real_models
from tools.architectures import language, points, search
from tools.architectures.architecture import Architecture, plain
from tools.architectures.export import export, path_of
from tools.measurements import chosen

COLUMNS = ("model", "changed", "precision", "before", "speed", "outputs")


def _of(example: real_models.Example) -> Architecture:
    model, inputs = example
    return plain(model, **inputs)


FAMILIES: dict[str, Callable[[], Architecture]] = {
    "deberta": lambda: _of(real_models.deberta(256)),
    "gnn": points.gnn,
    "gat": lambda: points.gat(2000, 16000),
    "gcn": points.gcn,
    "gin": points.gin,
    "sage": points.sage,
    "knn": lambda: _of(real_models.knn()),
    "beam": lambda: _of(real_models.beam(8000)),
    "ctc": lambda: _of(real_models.ctc()),
    "cross_entropy": lambda: search.cross_entropy(4, 256, 8000),
    "longformer": lambda: language.longformer(512, attention_window=64, max_position_embeddings=514),
    "funnel": language.funnel,
    "mixtral": lambda: language.mixtral(128, hidden_size=256, intermediate_size=512),
    "lookup_table": lambda: search.lookup_table(240, 320),
    "mamba": language.mamba,
    "rwkv": language.rwkv,
    "recommender": lambda: search.recommender(4096),
}


def measure(
    directory: Path, *names: str, threads: int = os.cpu_count() or 1, fp16: bool = False
) -> Iterator[tuple[object, ...]]:
    (directory / "static").mkdir(parents=True, exist_ok=True)
    for name in chosen(names, FAMILIES):
        path = path_of(directory, name, "static", "onnx")
        if not path.exists():
            torch.manual_seed(0)
            with torch.no_grad():
                export(FAMILIES[name](), path, "static", "onnx")
        arrays = dict(np.load(path.parent / f"{name}.npz"))
        if fp16:
            path, read = path.with_suffix(".fp16.xml"), ov.Core().read_model(path)
            ov.save_model(read, path)
        before, after = (ov.Core().read_model(path) for _ in range(2))
        summary = ov_gather.accelerate(after)
        changed = f"{len(summary.changed)} of {len(summary.changes)}"
        for each in measured(before, after, threads, given=arrays):
            same = "same bits" if each.same else "worse" if each.is_worse else "no less accurate"
            yield name, changed, each.precision, f"{each.seconds[0] * 1e3:.2f} ms", f"{each.ratio:.2f}x", same

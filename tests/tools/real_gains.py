"""Measure `accelerate` on real families of models: `python tests/tools/real_gains.py DIR [NAME...] [--threads N] [--fp16]`.

Each model is exported to DIR with random weights if it does not exist, converted as by ovc (with --fp16, weights are float16,
OpenVINO's default), and measured before and after by turns, as by `ov-gather bench model`. Prints rows of a Markdown table.
Downloads nothing. Needs `.[models]`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino as ov
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

import ov_gather
from ov_gather.bench.model import measure
from tools import real_models
from tools.architectures import language, points, search
from tools.architectures.architecture import Architecture, plain
from tools.architectures.export import export, path_of


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


def main() -> None:
    """Export and measure the named families, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FAMILIES)}; all if none is given")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fp16", action="store_true", help="Save the weights as float16.")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(FAMILIES)):
        parser.error(f"there is no family {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    (arguments.directory / "static").mkdir(parents=True, exist_ok=True)
    for name in arguments.names or FAMILIES:
        path = path_of(arguments.directory, name, "static", "onnx")
        if not path.exists():
            torch.manual_seed(0)
            with torch.no_grad():
                export(FAMILIES[name](), path, "static", "onnx")
        if arguments.fp16:
            saved = path.with_suffix(".fp16.xml")
            ov.save_model(ov.Core().read_model(path), saved)
        before, after = (ov.Core().read_model(saved if arguments.fp16 else path) for _ in range(2))
        summary = ov_gather.accelerate(after)
        arrays = dict(np.load(path.parent / f"{name}.npz"))
        found = [
            f"{measured.precision} {measured.ratio:.2f}x of {measured.seconds[0] * 1e3:.2f} ms, "
            f"{'same bits' if measured.same else 'worse' if measured.is_worse else 'no less accurate'}"
            for measured in measure(before, after, arguments.threads, given=arrays)
        ]
        print(f"| {name} | {len(summary.changed)} of {len(summary.changes)} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()

"""Convert PyTorch's own samples of operators that index: `python tests/tools/pytorch_samples.py [OPERATOR...]`.

Each sample that PyTorch tests such an operator with becomes a program, is converted by OpenVINO alone and by ours for both
targets, executed, and compared with PyTorch. The table counts the outcomes. Samples that OpenVINO alone gets right, and ours
does not, are listed, and make the exit code 1. Needs torch and expecttest.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

import numpy as np
import openvino
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch.testing._internal.common_methods_invocations import op_db

import ov_gather
from helpers.worker_process import DiedError, Worker
from ov_gather.converters import ConversionError, convert_model

OPERATORS = (
    *("gather", "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "index_select", "__getitem__"),
    *("masked_select", "nn.functional.embedding", "nn.functional.embedding_bag", "nn.functional.one_hot", "nonzero"),
    *("scatter", "scatter_add", "scatter_reduce", "take", "take_along_dim", "topk", "unique", "unique_consecutive"),
)
TYPES = ("float32", "float16", "int64", "int32", "uint8", "bool")
WAYS: dict[str, Callable[[Any], openvino.Model]] = {
    "OpenVINO alone": openvino.convert_model,
    "ours, stock": convert_model,
    "ours, extension": lambda exported: convert_model(exported, target="extension"),
}
LIMIT = 60.0
"""Seconds for a sample."""
Array = np.ndarray[Any, Any]
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}


class Program(torch.nn.Module):
    """A call of an operator: its tensors are inputs, all else is constant."""

    def __init__(self, call: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        super().__init__()
        self.call, self.arguments, self.named = call, arguments, named

    def forward(self, *tensors: torch.Tensor) -> Any:
        """Call the operator."""
        left = iter(tensors)
        given = [next(left) if isinstance(one, torch.Tensor) else one for one in self.arguments]
        named = {key: next(left) if isinstance(one, torch.Tensor) else one for key, one in self.named.items()}
        return self.call(*given, **named)


@dataclass(frozen=True)
class Sample:
    """The number of an operator in PyTorch's list, an element type, and the number of the sample."""

    operator: int
    kind: str
    number: int

    def __str__(self) -> str:
        info = op_db[self.operator]
        return f"{info.name} {info.variant_test_name} {self.kind} {self.number}"


def samples(operator: int, kind: str) -> list[Any]:
    """Return the samples of an operator, the same ones each time."""
    info = op_db[operator]
    torch.manual_seed(0)
    return list(info.sample_inputs("cpu", getattr(torch, kind))) if getattr(torch, kind) in info.dtypes else []


def all_samples(names: list[str]) -> Iterator[Sample]:
    """Yield the samples of the operators."""
    for operator, info in enumerate(op_db):
        for kind in TYPES if info.name in names else ():
            yield from (Sample(operator, kind, number) for number in range(len(samples(operator, kind))))


def judge(call: tuple[Sample, Sequence[str]]) -> dict[str, str]:
    """Return what ways of conversion made of a sample."""
    warnings.simplefilter("ignore")
    logging.disable()
    one, ways = call
    sample = samples(one.operator, one.kind)[one.number]
    program = Program(op_db[one.operator].op, (sample.input, *sample.args), sample.kwargs)
    tensors = [given for given in (*program.arguments, *program.named.values()) if isinstance(given, torch.Tensor)]
    try:
        exported = torch.export.export(program, tuple(given.clone() for given in tensors))
        made = program(*(given.clone() for given in tensors))
    except Exception:
        return dict.fromkeys(ways, "not exported")
    expected = [given.numpy() for given in (made if isinstance(made, tuple | list) else [made])]
    return {way: _outcome(WAYS[way], exported, [given.numpy() for given in tensors], expected) for way in ways}


def _outcome(convert: Callable[[Any], openvino.Model], exported: Any, feeds: list[Array], expected: list[Array]) -> str:
    try:
        model = convert(exported)
    except (ConversionError, RuntimeError, TypeError, ValueError):
        return "refused"
    try:
        request = ov_gather.register(openvino.Core()).compile_model(model, "CPU", EXACT).create_infer_request()
        request.start_async(feeds[: len(model.inputs)])
        request.wait()
    except (RuntimeError, TypeError):
        return "raises"
    found = [tensor.data for tensor in request.output_tensors]
    return "right" if len(found) == len(expected) and all(map(_is_close, found, expected)) else "wrong"


def _is_close(found: Array, expected: Array) -> bool:
    is_close = found.shape == expected.shape and np.allclose(found.astype(float), expected.astype(float), 1e-3, 1e-5, True)
    return bool(is_close)


def _alone(worker: Worker[tuple[Sample, Sequence[str]], dict[str, str]], sample: Sample, way: str) -> str:
    try:
        return worker.call((sample, (way,)), LIMIT)[way]
    except DiedError:
        return "ends the process"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", default=OPERATORS)
    chosen = list(all_samples(list(parser.parse_args().operators)))
    worker: Worker[tuple[Sample, Sequence[str]], dict[str, str]] = Worker(judge)
    counts: dict[str, dict[str, Counter[str]]] = {}
    lost = list[str]()
    for sample in track(chosen, "samples"):
        try:
            outcomes = worker.call((sample, tuple(WAYS)), LIMIT)
        except DiedError:
            outcomes = {way: _alone(worker, sample, way) for way in WAYS}
        for way, outcome in outcomes.items():
            counts.setdefault(op_db[sample.operator].name, {}).setdefault(way, Counter())[outcome] += 1
        is_right = [outcome == "right" for outcome in outcomes.values()]
        if is_right[0] and not all(is_right):
            lost.append(f"{sample}: {outcomes}")
    table = Table("operator", *WAYS)
    for name, of_ways in counts.items():
        table.add_row(name, *(", ".join(f"{n} {what}" for what, n in found.most_common()) for found in of_ways.values()))
    console = Console(width=200)
    console.print(table)
    console.print(*lost, sep="\n", markup=False)
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()

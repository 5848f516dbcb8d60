"""Comparison of validation with OpenVINO's reader on the same IR, alternately, each time in a new process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from ov_gather.bench.spread import Spread, quartiles
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

# Imports are not measured.
_SCRIPT = """
import json, sys, time
{work}
start = time.perf_counter()
result = work(sys.argv[1])
seconds = time.perf_counter() - start
from ov_gather.system.platforms import peak_memory
print(json.dumps([seconds, peak_memory() / 2**20, str(result)[:200]]))
"""
_VALIDATE = """
import ov_gather.graph.ir, ov_gather.ranges.proofs  # what validation imports when it needs them, NumPy with them
from ov_gather import validate
work = lambda path: [str(finding) for finding in validate(path) if finding.severity.value == "error"]
"""
_READ_MODEL = "from openvino import Core; work = Core().read_model"

_CHAINS = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of validation and `read_model`, and of their ratio: of seconds, or of peak memory in MiB."""

    validate: float
    read_model: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Distribution:
    """The ratios of many models: their quartiles, the greatest with its model, and that of the sums."""

    quartiles: Spread
    worst: float
    of: Path
    together: float

    @classmethod
    def over(cls, costs: Mapping[Path, Cost]) -> Distribution:
        """Return the distribution of the costs of at least two models."""
        worst = max(costs, key=lambda path: costs[path].ratio)
        sums = (sum(values) for values in zip(*((cost.validate, cost.read_model) for cost in costs.values()), strict=True))
        ours, theirs = sums
        return cls(quartiles([cost.ratio for cost in costs.values()]), costs[worst].ratio, worst, ours / theirs)

    def __str__(self) -> str:
        spread = f"median {self.quartiles.median:.2f}x, quartiles {self.quartiles.low:.2f}x and {self.quartiles.high:.2f}x"
        return f"{spread}, worst {self.worst:.2f}x ({self.of}), all together {self.together:.2f}x"


def generate(path: Path, layers: int) -> None:
    """Write a model of about `layers` layers: chains of a Const, an Add, and a ReLU or, every 50th time, a GatherElements.

    With 50,000 layers the .xml has 21 MB and 720,000 lines.
    """
    builder = ModelBuilder("generated")
    shape = PartialShape.of([64, 32])
    indices = builder.parameter("indices", I64, shape)
    values = [builder.parameter(f"input_{i}", F32, shape) for i in range(_CHAINS)]
    for i in range(layers // 3 - _CHAINS):
        name, value = f"model/block_{i}", values[i % _CHAINS]
        bias = builder.const(f"{name}/bias", F32, np.zeros(32, np.float32))
        (value,) = builder.layer("Add", f"{name}/add", "opset1", {"auto_broadcast": "numpy"}, [value, bias], [(F32, shape)])
        if i % 50:
            (value,) = builder.layer("ReLU", f"{name}/relu", "opset1", {}, [value], [(F32, shape)])
        else:
            (value,) = builder.layer(
                "GatherElements", f"{name}/gather", "opset6", {"axis": "1"}, [value, indices], [(F32, shape)]
            )
        values[i % _CHAINS] = value
    for i, value in enumerate(values):
        builder.result(f"output_{i}", value)
    write_ir(builder.build(), path)


def measure(path: Path, rounds: int) -> tuple[Cost, Cost]:
    """Return the costs in time and in peak memory, medians of `rounds` pairs. Raises ValueError for a model with errors."""
    pairs = [(_run(_VALIDATE, path), _run(_READ_MODEL, path)) for _ in range(rounds)]
    if findings := next((ours[2] for ours, _ in pairs if ours[2] != "[]"), ""):
        raise ValueError(f"{path}: validation found {findings}")
    return _cost([(ours[0], theirs[0]) for ours, theirs in pairs]), _cost([(ours[1], theirs[1]) for ours, theirs in pairs])


def _run(work: str, path: Path) -> tuple[float, float, str]:
    command = [sys.executable, "-c", _SCRIPT.format(work=work), str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        *_, last = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise ValueError(f"{path}: {last}")
    seconds, peak, result = json.loads(done.stdout)
    return seconds, peak, result


def _cost(pairs: list[tuple[float, float]]) -> Cost:
    ours, theirs = zip(*pairs, strict=True)
    return Cost(median(ours), median(theirs), median(mine / its for mine, its in pairs))

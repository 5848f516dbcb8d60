"""A script that counts which divergences one release of OpenVINO shows; `release_matrix.py` runs it. It speaks JSON.

{"paths": [path of an IR, ...], "sweep": cases} is answered by {"cpu": name, "counts": {divergence: [shown, absent]}, "unnamed":
{operation: {what was observed: cases}}}: how often each divergence showed where it applies, and how often it did not, whatever
`since` and `before` say; and how often something was observed that no divergence of this release explains.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # tests/

from ov_gather.crosscheck import runtime_queue as lanes
from ov_gather.crosscheck.cases.designed import designed
from ov_gather.crosscheck.defaults import DEFAULT_CASES, DEFAULT_SEED
from ov_gather.crosscheck.layers import Job, LayerChecks
from ov_gather.crosscheck.results import Comparison
from ov_gather.crosscheck.sweep import sweep
from ov_gather.crosscheck.verdict import Observation, Outcome, first_difference, is_predicted_by, judge, observed_as
from ov_gather.divergences import cpu
from ov_gather.divergences.base import CPU
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I32, I64
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_ir
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.rules.releases import RELEASES, first_with_operation, is_before
from ov_gather.runtimes.isolated import borrowed

RUNTIME = "openvino"
LONGEST = 100


class Recorder:
    """Takes the place of `judge`, and counts what it is asked about."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.unnamed: dict[str, Counter[str]] = defaultdict(Counter)

    def __call__(
        self,
        runtime: str,
        version: str,
        expected: Outcome,
        observation: Observation,
        view: LayerView,
        operands: Sequence[Any],
        devices: Sequence[str],
    ) -> Comparison:
        result = judge(runtime, version, expected, observation, view, operands, devices)
        if not result.passed:
            types = " ".join(map(str, view.input_types))
            self.unnamed[view.operation.name][f"{types}: {result.detail[:LONGEST]}"] += 1
        release = ".".join(version.split(".")[:2])
        first = first_with_operation(view.layer)
        if first is None or not is_before(release if release in RELEASES else RELEASES[-1], first):
            self._count(expected, observation.outcome, view, operands)
        return result

    def _count(self, expected: Outcome, found: Outcome, view: LayerView, operands: Sequence[Any]) -> None:
        observed = observed_as(expected, found, first_difference(expected, found))
        for known in DIVERGENCES:
            of_operation = not known.operations or view.operation in known.operations
            if RUNTIME not in known.runtimes or known.devices != CPU or not of_operation or not known.applies(view, operands):
                continue
            is_predicted = is_predicted_by(known, view, operands, found)
            if observed in known.observed and is_predicted:
                self.counts[known.name]["shown"] += 1
            elif known.predicts is None or not is_predicted:  # else it predicts what is right
                self.counts[known.name]["absent"] += 1


def small_layers() -> Iterator[Model]:
    """Yield layers that neither samples nor made-up ones are: batch dimensions of 1, and an axis that is no constant."""
    yield gather((1, 5, 3), (1, 4), 1, batch_dims=1)
    yield gather((5, 3), (4,), None)


def gather(data: tuple[int, ...], indices: tuple[int, ...], axis: int | None, batch_dims: int = 0) -> Model:
    builder = ModelBuilder("gather")
    scalar = PartialShape.of(())
    along = builder.parameter("axis", I64, scalar) if axis is None else builder.const("axis", I64, np.array(axis))
    given = {"data": (F32, data), "indices": (I32, indices)}
    inputs = [builder.parameter(name, kind, PartialShape.of(sizes)) for name, (kind, sizes) in given.items()]
    text = {"batch_dims": str(batch_dims)}
    (output,) = builder.layer("Gather", "gather", "opset8", text, [*inputs, along], [(F32, scalar)], tensor="output")
    builder.result("output", output)
    return builder.build()


def main() -> None:
    question = json.load(sys.stdin)
    lanes.judge = recorder = Recorder()  # type: ignore[assignment]
    make = partial(designed, limit=DEFAULT_CASES, seed=DEFAULT_SEED)
    with borrowed([RUNTIME]) as runtimes, LayerChecks(runtimes) as checks:
        for model in chain(small_layers(), map(read_ir, question["paths"])):
            views = (view for _, graph in model.walk() for view in family_layers(graph))
            list(checks.run([Job(view, make, is_alone=True) for view in views]))
    sweep([RUNTIME], cases=question["sweep"])
    counts = {name: [count["shown"], count["absent"]] for name, count in recorder.counts.items()}
    json.dump({"cpu": cpu.model_name(), "counts": counts, "unnamed": recorder.unnamed}, sys.stdout)


if __name__ == "__main__":
    main()

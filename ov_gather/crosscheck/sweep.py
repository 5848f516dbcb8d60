"""The cross-check of layers that are made up: operations x element types x ranks x axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from ov_gather.crosscheck.cases.designed import DEFAULT_SEED, DESIGNS, Case, designed
from ov_gather.crosscheck.cases.swept import CASES_A_LAYER, DEFAULT_SWEEP, UNSAFE, layers
from ov_gather.crosscheck.environment import environment
from ov_gather.crosscheck.layers import Job, LayerChecks
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.reduce import Reducer
from ov_gather.crosscheck.results import CrossCheckResult
from ov_gather.divergences.register import lacking
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import borrowed


def sweep(
    runtimes: Sequence[str],
    *,
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_SWEEP,
    device: str = CPU,
    failures: Path | None = None,
    progress: Progress | None = None,
) -> CrossCheckResult:
    """Cross-check made-up layers of all operations of the family, until there are `cases` in all.

    Args:
        runtimes: as for `cross_check`.
        seed: for the layers and their cases.
        cases: how many cases there are in all.
        device, failures: as for `cross_check`.
        progress: is told of each layer that is done.

    Raises FileNotFoundError, ImportError where a runtime is not installed.
    """
    progress = progress or Progress()
    progress.begin("made-up layers", cases, seed, "cases")
    reducer = Reducer(failures, device) if failures else None
    with borrowed(runtimes, device) as others, LayerChecks(others, reducer) as checks:
        progress.watch(checks.lanes)
        for number, model in enumerate(layers(seed)):
            (view,) = family_layers(model)
            if all(lacking(other.name, other.version, view, other.devices) for other in others if other.name != "kernel"):
                continue  # nothing to compare with
            make = partial(_some, number=number, limit=min(CASES_A_LAYER, cases - progress.done), seed=seed + number)
            for _, layer in checks.run([Job(view, make, is_alone=True)]):
                progress.add(number, layer, len(layer.cases))
            if progress.done >= cases:
                break
        return CrossCheckResult(progress.layers, seed, environment(others))


def _some(view: LayerView, number: int, limit: int, seed: int) -> Iterator[Case]:
    """Take every other of the designed cases, all on the same number of threads: a runtime loads a model anew for another one.

    Only one layer in UNSAFE gets cases with indices out of bounds: after most of them a runtime needs a new process.
    """
    cases = [case for case in designed(view, len(DESIGNS), seed) if number % UNSAFE == 0 or not case.out_of_bounds]
    return islice((replace(case, threads=1 + number % 2) for case in cases[number // UNSAFE % 2 :: 2]), limit)

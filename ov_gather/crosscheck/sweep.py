"""Cross-check of generated layers: operations x element types x ranks x axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from ov_gather.crosscheck.cases.designed import DEFAULT_SEED, DESIGNS, Case, designed
from ov_gather.crosscheck.cases.swept import CASES_A_LAYER, DEFAULT_SWEEP, UNSAFE, layers
from ov_gather.crosscheck.layers import Job, LayerChecks
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.reduce import Reducer
from ov_gather.crosscheck.results import CrossCheckResult, Environment, LayerResult
from ov_gather.divergences.register import lacking
from ov_gather.ir.model import Model
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed


def sweep(
    runtimes: Sequence[str],
    *,
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_SWEEP,
    device: str = CPU,
    failures: Path | None = None,
    progress: Progress | None = None,
    start: int = 0,
    stop: int | None = None,
) -> CrossCheckResult:
    """Cross-check generated layers of all operations of the family, until there are `cases` in all.

    Args:
        runtimes: as for `cross_check`.
        seed: for the layers and their cases.
        cases: the total number of cases.
        device, failures: as for `cross_check`.
        progress: receives each result as soon as its layer is done.
        start, stop: number of the first layer, and of the one behind the last; None for no end.

    Raises FileNotFoundError, ImportError if a runtime is not installed.
    """
    progress = progress or Progress()
    progress.begin("made-up layers", cases, seed, "cases")
    reducer = Reducer(failures, device) if failures else None
    with borrowed(runtimes, device) as others, LayerChecks(others, reducer) as checks:
        progress.watch(checks.queues)
        for number, model in islice(enumerate(layers(seed)), start, stop):
            for layer in _checked(number, model, others, checks, seed, cases - progress.done):
                progress.add(number, layer, len(layer.cases))
            if progress.done >= cases:
                break
        return CrossCheckResult(progress.layers, seed, Environment.of(others))


def _checked(
    number: int,
    model: Model,
    others: Sequence[IsolatedRuntime[Model]],
    checks: LayerChecks,
    seed: int,
    limit: int,
) -> Iterator[LayerResult]:
    """Yield the result of one layer in at most `limit` cases; nothing if every runtime beside "kernel" lacks the operation."""
    (view,) = family_layers(model)
    compared = [other for other in others if other.name != "kernel"]
    if compared and all(lacking(other.name, other.version, view, other.devices) for other in compared):
        return
    make = partial(_some, number=number, limit=min(CASES_A_LAYER, limit), seed=seed + number)
    for _, layer in checks.run([Job(view, make, is_alone=True)]):
        yield layer


def _some(view: LayerView, number: int, limit: int, seed: int) -> Iterator[Case]:
    """Select every second designed case, all with the same number of threads, as a runtime reloads the model for another one.

    Only one layer in UNSAFE gets out-of-bounds indices, because a runtime needs a new process after most of them.
    """
    cases = [case for case in designed(view, len(DESIGNS), seed) if number % UNSAFE == 0 or not case.out_of_bounds]
    return islice((replace(case, threads=1 + number % 2) for case in cases[number // UNSAFE % 2 :: 2]), limit)

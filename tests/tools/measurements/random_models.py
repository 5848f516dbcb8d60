"""Compare random models before and after `accelerate`: `--count` of the seeds from `--first` on.

In f32, each model runs in bounds, out of bounds and, with dynamic shapes, with other sizes. Fails if an output differs in a
bit, an error is lost or new, or a process crashes; the seed is printed, and `--count 1 --first SEED` runs it alone.

With `--default`, each runs in bounds, in OpenVINO's default precision on this machine. Fails if an output differs without a
report of other rounding, or is less accurate than before.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from helpers.random_outcomes import Outcome, outcomes

COLUMNS = ("trial", "outcome", "models")
PART = 250


def judged(seeds: range, exact: bool) -> list[Outcome]:
    return list(outcomes(seeds, exact=exact))


def measure(*, count: int = 5000, first: int = 0, default: bool = False) -> Iterator[tuple[object, ...] | str]:
    start = time.perf_counter()
    seeds = range(first, first + count)
    parts = [seeds[i : i + PART] for i in range(0, len(seeds), PART)]
    found: list[Outcome] = []
    with ThreadPoolExecutor(2) as pool:
        for part in pool.map(partial(judged, exact=not default), parts):
            found += part
            yield from (str(outcome) for outcome in part if outcome.is_bad)
    changed = {outcome.seed for outcome in found if outcome.changed}
    yield f"{count} models from seed {first}, {len(changed)} of them changed, {time.perf_counter() - start:.0f} s"
    for (trial, kind), number in sorted(Counter((outcome.trial, outcome.kind) for outcome in found).items()):
        yield trial, kind, number
    if any(outcome.is_bad for outcome in found):
        sys.exit("some are bad")

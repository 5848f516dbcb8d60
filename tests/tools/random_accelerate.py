"""Compare random models before and after `accelerate`: python tests/tools/random_accelerate.py [COUNT [FIRST SEED [default]]]

In f32, each model runs in bounds, out of bounds and, with dynamic shapes, with other sizes. The exit code is 1 if an output
differs in a bit, an error is lost or new, or a process crashes; the seed is printed, and COUNT 1 with that seed runs it alone.

With `default`, each runs in bounds, in OpenVINO's default precision on this machine. The exit code is 1 if an output differs
without a report of other rounding, or is less accurate than before.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

from helpers.random_outcomes import Outcome, outcomes

PART = 250


def judged(seeds: range, exact: bool) -> list[Outcome]:
    """Return the outcomes of seeds; print bad ones immediately."""
    found = []
    for outcome in outcomes(seeds, exact=exact):
        found.append(outcome)
        if outcome.is_bad:
            print(outcome, flush=True)
    return found


def main(count: str = "5000", first: str = "0", precision: str = "f32") -> int:
    start = time.perf_counter()
    seeds = range(int(first), int(first) + int(count))
    parts = [seeds[i : i + PART] for i in range(0, len(seeds), PART)]
    with ThreadPoolExecutor(2) as pool:
        found = [outcome for part in pool.map(partial(judged, exact=precision == "f32"), parts) for outcome in part]
    changed = {outcome.seed for outcome in found if outcome.changed}
    print(f"{count} models from seed {first}, {len(changed)} of them changed, {time.perf_counter() - start:.0f} s")
    for (trial, kind), number in sorted(Counter((outcome.trial, outcome.kind) for outcome in found).items()):
        print(f"{trial}: {kind}: {number}")
    return int(any(outcome.is_bad for outcome in found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Random models before and after `accelerate`, in f32: python tests/random_accelerate.py [COUNT [FIRST SEED]]

Each is tried in bounds, out of bounds and, where shapes are dynamic, with other sizes. Exit code 1 where an output differs in a
bit, an error is lost or new, or a process crashes; its seed is printed, and COUNT 1 with that seed tries it alone.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "runtime"))

from random_outcomes import Outcome, outcomes

PART = 250


def judged(seeds: range) -> list[Outcome]:
    """Prints what is bad as soon as it is found."""
    found = []
    for outcome in outcomes(seeds):
        found.append(outcome)
        if outcome.is_bad:
            print(outcome, flush=True)
    return found


def main(count: int = 5000, first: int = 0) -> int:
    start = time.perf_counter()
    parts = [range(seed, min(seed + PART, first + count)) for seed in range(first, first + count, PART)]
    with ThreadPoolExecutor(2) as pool:
        found = [outcome for part in pool.map(judged, parts) for outcome in part]
    changed = {outcome.seed for outcome in found if outcome.changed}
    print(f"{count} models from seed {first}, {len(changed)} of them changed, {time.perf_counter() - start:.0f} s")
    for (trial, kind), number in sorted(Counter((it.trial, it.kind) for it in found).items()):
        print(f"{trial}: {kind}: {number}")
    return int(any(outcome.is_bad for outcome in found))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

"""Judge the forms of idioms that OpenVINO computes wrongly: `python tests/tools/law.py [--forms N] [--seed S] [WORD...]`

Each form is an idiom, with a layer that changes nothing between its halves, in an opset, at the top level or in a body, of
inputs, computed values or constants. A WORD selects forms that have it as a part. N takes so many at random. Forms are judged
in processes, as some may end theirs. The exit code is 1 if one breaks the law: it is wrong without a fact of the book or a
report of its conversion, right in spite of one, or out of the bounds of range analysis.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from rich.console import Console
from rich.progress import track
from rich.table import Table

from helpers.idioms import Form, forms
from helpers.law import EXCEPTIONS, Kind, Verdict, judge

SECONDS = 60
"""Longest time for a form."""
FORMS_PER_PROCESS = 1000


def judged(part: Sequence[Form]) -> Iterator[tuple[Form, Sequence[Verdict]]]:
    """Yield the verdicts of some forms, from one process after another."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, context, max_tasks_per_child=FORMS_PER_PROCESS)
    for form in part:
        try:
            yield form, pool.submit(judge, form).result(SECONDS)
        except (BrokenProcessPool, TimeoutError) as error:
            yield form, [Verdict(Kind.SILENT, f"the process ends, or hangs: {error}")]
            for process in multiprocessing.active_children():
                if process.pid in (pool._processes or {}):
                    process.kill()
            pool = ProcessPoolExecutor(1, context, max_tasks_per_child=FORMS_PER_PROCESS)
    pool.shutdown()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--forms", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    chosen = [form for form in forms() if not options.words or not {*options.words}.isdisjoint(map(str, form.parts))]
    random.Random(options.seed).shuffle(chosen)
    chosen = chosen[: options.forms]
    console, counts, wrong = Console(), defaultdict[str, Counter[Kind]](Counter), list[tuple[Form, Verdict]]()
    with ThreadPoolExecutor(options.jobs) as threads:
        lanes = [judged(chosen[lane :: options.jobs]) for lane in range(options.jobs)]
        rounds = -(-len(chosen) // options.jobs)
        for _ in track(range(rounds), "forms", console=console):
            for form, verdicts in filter(None, threads.map(lambda lane: next(lane, None), lanes)):
                counts[form.idiom].update(verdict.kind for verdict in verdicts)
                wrong += [(form, verdict) for verdict in verdicts if verdict.kind in EXCEPTIONS]
    table = Table("idiom", *(kind.value for kind in Kind))
    for idiom, count in sorted(counts.items()):
        table.add_row(idiom, *(str(count[kind] or "") for kind in Kind))
    table.add_section()
    table.add_row(f"all {len(chosen)}", *(str(sum(count[kind] for count in counts.values())) for kind in Kind))
    console.print(table)
    for form, verdict in wrong:
        console.print(f"{form.parts}: {verdict.kind.value}: {verdict.text[:600]}", markup=False, highlight=False)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

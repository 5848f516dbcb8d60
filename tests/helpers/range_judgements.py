"""The judgement of one random model: in worker processes, so that a crash of OpenVINO is an observation, too."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from traceback import format_exc

from helpers.worker_process import DiedError, Worker

MOST_RESTARTS = 12
"""How often a model is taken up again after a crash, without what crashed."""
LONGEST = 600.0
"""Seconds after which a model counts as one that crashes: a Tile by a large number does not end."""
MEMORY = 12 << 30
"""Bytes that a worker process may take."""


@dataclass
class Judgement:
    """What was found of the model of one seed: numbers by what they count, violations, and stages in which OpenVINO crashed."""

    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    unwitnessed: list[str] = field(default_factory=list)
    """Bounds of conditions that were violated, and yet no index was out of bounds."""


def confirmed(seeds: Sequence[int], judge: Callable[[int, Callable[[str], bool]], Judgement]) -> Iterator[Judgement]:
    """Judge models; violations count where they occur again in a process that no other model can have harmed."""
    for one in judgements(seeds, judge):
        if one.violations:
            (again,) = judgements([one.seed], judge)
            if not again.violations:
                one.counts["violations that do not occur again"] += len(one.violations)
                one.violations = []
        yield one


def judgements(seeds: Sequence[int], judge: Callable[[int, Callable[[str], bool]], Judgement]) -> Iterator[Judgement]:
    """Judge model after model in a worker process, which starts anew after a crash."""
    worker = Worker[tuple[int, Sequence[str]], Judgement](partial(_judged, judge), "forkserver", tells=True)
    try:
        for seed in seeds:
            yield _judgement(worker, seed)
    finally:
        worker.stop()


def _judgement(worker: Worker[tuple[int, Sequence[str]], Judgement], seed: int) -> Judgement:
    """Judge the model of a seed, without the stages in which OpenVINO crashes."""
    crashes: list[str] = []
    while len(crashes) <= MOST_RESTARTS:
        try:
            found = worker.call((seed, crashes), LONGEST)
        except DiedError as death:
            if not worker.told:
                raise RuntimeError(f"{death}, before it began") from None
            crashes.append(worker.told)
            continue
        found.crashes = crashes
        return found
    return Judgement(seed, crashes=crashes)


def _judged(
    judge: Callable[[int, Callable[[str], bool]], Judgement], item: tuple[int, Sequence[str]], tell: Callable[[str], None]
) -> Judgement:
    limit_memory()
    seed, skipped = item

    def about_to(stage: str) -> bool:
        if stage not in skipped:
            tell(stage)
        return stage not in skipped

    tell("making the model")
    try:
        return judge(seed, about_to)
    except Exception:  # a defect of what judges must not look as if OpenVINO had crashed
        return Judgement(seed, violations=[f"not judged: {format_exc()}"])


def limit_memory() -> None:
    """Limit what this process may take, also of the disk when it crashes."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def totals(found: Sequence[Judgement]) -> Counter[str]:
    return sum((one.counts for one in found), Counter())

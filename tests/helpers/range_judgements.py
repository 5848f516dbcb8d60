"""The judgement of one random model: in worker processes, so that a crash of OpenVINO is an observation, too."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from traceback import format_exc

PROCESSES = get_context("forkserver")
MOST_RESTARTS = 12
"""How often a model is taken up again after a crash, without what crashed."""
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
    left, skipped = list(seeds), dict[int, list[str]]()
    while left:
        ours, theirs = PROCESSES.Pipe()
        process = PROCESSES.Process(target=_work, args=(theirs, left, judge, skipped))
        process.start()
        theirs.close()
        stage, is_at_work = "start", False
        try:
            while left:
                message = ours.recv()
                is_at_work = True
                if isinstance(message, str):
                    stage = message
                    continue
                message.crashes = skipped.get(left[0], [])
                left = left[1:]
                stage = "start"
                yield message
        except EOFError:
            process.join()
            if not is_at_work:
                raise RuntimeError(f"a worker process ended with exit code {process.exitcode} before it began") from None
            crashes = skipped.setdefault(left[0], [])
            crashes.append(stage)
            if len(crashes) > MOST_RESTARTS:
                yield Judgement(left[0], crashes=crashes)
                left = left[1:]
        process.join()


def _work(
    connection: Connection,
    seeds: Sequence[int],
    judge: Callable[[int, Callable[[str], bool]], Judgement],
    skipped: Mapping[int, Sequence[str]],
) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for seed in seeds:

        def about_to(stage: str, seed: int = seed) -> bool:
            if stage in skipped.get(seed, ()):
                return False
            connection.send(stage)
            return True

        connection.send("making the model")
        try:
            judgement = judge(seed, about_to)
        except Exception:  # a defect of what judges must not look as if OpenVINO had crashed
            judgement = Judgement(seed, violations=[f"not judged: {format_exc()}"])
        connection.send(judgement)


def totals(found: Sequence[Judgement]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in found:
        total.update(one.counts)
    return total

"""Random models that crash OpenVINO while they are judged, with what was compiled and executed before."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from helpers.index_sites import Arrays, Tensor
from helpers.random_index_models import sample
from helpers.random_openvino import Sample
from helpers.range_analysis import Found
from helpers.range_judge import Judge
from helpers.range_judgements import limit_memory
from helpers.range_observations import Observer
from helpers.range_subjects import ADAPTERS, OpenvinoSubject
from helpers.range_trials import Trial
from helpers.worker_process import DiedError, Worker

Step = tuple[tuple[Tensor, ...], list[NDArray[Any]]]
"""The tensors that were the outputs of a model, and its inputs, in the order of the Parameters."""


@dataclass(frozen=True)
class Crash:
    """The first crash of the model of a seed.

    Attributes:
        stage: what the process was about to do.
        steps: the inferences of the model so far, the last one that of the crash.
    """

    seed: int
    stage: str
    steps: Sequence[Step]


def crashes(seeds: Sequence[int], directory: Path) -> Iterator[Crash | int]:
    """Judge the models of seeds in worker processes; yield the crash of each, or its seed if there is none."""
    path = directory / f"steps{seeds[0]}"
    worker = Worker[int, None](partial(_judged, path), "forkserver", tells=True)
    for seed in seeds:
        while True:
            try:
                worker.call(seed)
                yield seed
            except DiedError:
                if not worker.told:  # because of the model before, after that was judged
                    continue
                yield Crash(seed, worker.told, list(_steps(path)))
            break
    worker.stop()
    path.unlink(missing_ok=True)


def _steps(path: Path) -> Iterator[Step]:
    with path.open("rb") as file:
        while file.peek(1):
            yield pickle.load(file)


def _judged(path: Path, seed: int, tell: Callable[[str], None]) -> None:
    limit_memory()
    path.write_bytes(b"")

    def about_to(stage: str) -> bool:
        tell(stage)
        return True

    tell("making the model")
    Judge(seed, _Recorded(sample(seed), about_to, ADAPTERS, path)).judgement()


class _Recorded(OpenvinoSubject):
    """A model whose inferences are written to a file before they begin."""

    def __init__(self, one: Sample, about_to: Callable[[str], bool], adapters: Mapping[str, Any], path: Path) -> None:
        super().__init__(one, about_to, adapters)
        self._tell, self._path = about_to, path

    def analysed(self) -> Mapping[str, Found]:
        found = super().analysed()
        self._observer = _Recorder(self.sample.model, self._tell, self._path)
        return found

    def observe(self, trial: Trial) -> Arrays | None:
        self._tell(f"inferring shapes of the trial {trial.label}")
        return super().observe(trial)


class _Recorder(Observer):
    def __init__(self, model: Any, about_to: Callable[[str], bool], path: Path) -> None:
        super().__init__(model, about_to)
        self._path = path

    def _run(self, group: tuple[Tensor, ...], inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]] | None:
        with self._path.open("ab") as file:
            pickle.dump((group, list(inputs)), file)
        return super()._run(group, inputs)

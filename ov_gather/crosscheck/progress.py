"""Progress of a check, with the results so far, so that an interrupted check is not lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from ov_gather.crosscheck.results import CrossCheckResult, Environment, LayerResult
from ov_gather.crosscheck.runtime_queue import RuntimeQueue
from ov_gather.system.interrupts import exit_code


class Progress:
    """Progress through one source after another. One thread writes; others may read at any time.

    Attributes:
        source: path of the current source.
        total: number of layers in the source, or of cases in a sweep; 0 while it is unknown.
        done: number of them that are done.
        unit: the unit of `total` and `done`, "layers" or "cases".
        file, files: the number of the current source, from 1, and of all sources; 0 if it is the only one.
        stopped: this progress as text, when Ctrl+C or SIGTERM stopped the check; "" if nothing did.
    """

    def __init__(self) -> None:
        self.source, self.unit, self.stopped = "", "layers", ""
        self.total = self.done = self.file = self.files = 0
        self._step = ""
        self._seed = 0
        self._start = monotonic()
        self._layers: dict[int, LayerResult] = {}
        self._environment = Environment()
        self._queues: Sequence[RuntimeQueue] = ()

    def begin(self, source: str, total: int = 0, seed: int = 0, unit: str = "layers") -> None:
        """Switch to another source, and reset the counts."""
        self._layers, self._queues, self._step = {}, (), ""
        self.source, self.total, self.done, self.unit, self._seed = source, total, 0, unit, seed

    def begin_file(self, source: str, files: int) -> None:
        """Switch to the next of so many sources."""
        self.file, self.files = (self.file + 1, files) if files > 1 else (0, 0)
        self.begin(source)

    def step(self, what: str) -> None:
        """Report from now on what is done to the whole source; "" where its layers are executed one by one."""
        self._step = what

    def watch(self, queues: Sequence[RuntimeQueue]) -> None:
        """Report from now on what these runtimes execute."""
        self._queues = queues

    def add(self, position: int, layer: LayerResult, steps: int = 1) -> None:
        """Store the result of a layer, and advance by `steps` units."""
        if not self._layers:
            self._environment = Environment.of([queue.runtime for queue in self._queues])
        self._layers[position] = layer
        self.done += steps

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Leave the block without an error, and set `stopped`, if Ctrl+C or SIGTERM stops it."""
        try:
            yield
        except BaseException:  # other libraries may turn a signal into an error of their own
            if exit_code() is None:
                raise
            self.stopped = str(self)

    @property
    def layers(self) -> tuple[LayerResult, ...]:
        """Results of the current source so far, in the order of its layers."""
        return tuple(layer for _, layer in sorted(self._layers.items(), key=lambda item: item[0]))

    def partial(self) -> CrossCheckResult | None:
        """Return the result of the current source so far; None if no layer is done."""
        if not self._layers:
            return None
        return CrossCheckResult(self.layers, self._seed, self._environment, not_run="stopped before the model was compared")

    def __str__(self) -> str:
        counted = f"{self.done:,} of {self.total:,} {self.unit}" if self.total else self._step or "reading"
        file = f", file {self.file:,} of {self.files:,}" if self.files else ""
        return f"{self.source}: {counted}{file} after {monotonic() - self._start:.0f} s{self.current}"

    @property
    def current(self) -> str:
        """What is done now: a step for the whole source, or else the longest running execution of a layer."""
        return f"; {self._step}" if self._step and self.total else self.longest

    @property
    def longest(self) -> str:
        """The longest running execution, as text with runtime, layer and seconds; "" if nothing is executed."""
        running = [(queue.runtime.name, queue.running) for queue in self._queues]
        working = [(case.since, name, case.layer) for name, case in running if case]
        if not working:
            return ""
        since, name, layer = min(working)
        return f"; {name} has been executing {layer} for {monotonic() - since:.0f} s"

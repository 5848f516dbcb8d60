"""This module tells how far a check is, and keeps what is done, so that a check that is stopped is not lost."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from ov_gather.crosscheck.comparisons import LayerResult
from ov_gather.crosscheck.environment import environment
from ov_gather.crosscheck.lanes import Lane
from ov_gather.crosscheck.results import CrossCheckResult, Environment


class Progress:
    """Progress of one source after another. One thread checks, and others may read at any time.

    Attributes:
        source: the path of what is checked at present.
        total: how many layers the source has, or of a sweep how many cases there are to be; 0 while that is not known.
        done: how many of them are done.
        unit: what is counted, "layers" or "cases".
    """

    def __init__(self) -> None:
        self.source, self.unit = "", "layers"
        self.total = self.done = 0
        self._seed = 0
        self._start = monotonic()
        self._layers: dict[int, LayerResult] = {}
        self._environment = Environment()
        self._lanes: Sequence[Lane] = ()

    def begin(self, source: str, total: int = 0, seed: int = 0, unit: str = "layers") -> None:
        """Turn to another source."""
        self._layers, self._lanes = {}, ()
        self.source, self.total, self.done, self.unit, self._seed = source, total, 0, unit, seed

    def watch(self, lanes: Sequence[Lane]) -> None:
        """Say from now on what these runtimes do."""
        self._lanes = lanes

    def add(self, position: int, layer: LayerResult, steps: int = 1) -> None:
        """Keep the result of a layer; `steps` is by how much more is done then."""
        if not self._layers:
            self._environment = environment([lane.runtime for lane in self._lanes])
        self._layers[position] = layer
        self.done += steps

    @property
    def layers(self) -> tuple[LayerResult, ...]:
        """The layers of the present source that are done, in the order that they have in the source."""
        return tuple(layer for _, layer in sorted(self._layers.items(), key=lambda item: item[0]))

    def partial(self) -> CrossCheckResult | None:
        """Give what is done of the present source; None if no layer is."""
        if not self._layers:
            return None
        return CrossCheckResult(self.layers, self._seed, self._environment, not_run="stopped before the model was compared")

    def __str__(self) -> str:
        counted = f"{self.done:,} of {self.total:,} {self.unit}" if self.total else "reading"
        return f"{self.source}: {counted} after {monotonic() - self._start:.0f} s{self.longest}"

    @property
    def longest(self) -> str:
        """What takes longest at present: the runtime, the layer and the seconds; "" if nothing is executed."""
        doings = [(lane.runtime.name, lane.doing) for lane in self._lanes]
        working = [(doing.since, name, doing.layer) for name, doing in doings if doing]
        if not working:
            return ""
        since, name, layer = min(working)
        return f"; {name} has been executing {layer} for {monotonic() - since:.0f} s"

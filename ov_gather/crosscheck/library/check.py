"""The probes of each operation of users in a model, as results of its first layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.crosscheck.library.faults import PROBES, VALUES, LibraryFault
from ov_gather.crosscheck.library.probes import faults_of
from ov_gather.crosscheck.results import CaseResult, Comparison, LayerResult, Status
from ov_gather.extension.users import UserExtension
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.runtimes.isolated import borrowed

_RUNTIME = "library"


class Probed:
    """Results of the probes, by operation: the layers of one whose library is at fault beyond its values are not executed."""

    def __init__(self, views: Sequence[LayerView], extensions: tuple[UserExtension, ...], seed: int, cases: int) -> None:
        self._first = {view.operation.name: view for view in reversed(views) if not view.is_of_family}
        self._faults: dict[str, list[LibraryFault]] = {}
        self._problems: dict[str, str] = {}
        if not extensions:
            self._first = {}
        for name, view in self._first.items():
            try:
                alone = next(family_layers(isolate(view)))
                with borrowed([_RUNTIME], extensions=extensions) as (runtime,):
                    self._faults[name] = faults_of(alone, runtime, seed, cases)
                    runtime.stop()  # nothing else is executed in a process that may be damaged
            except (TypeError, ValueError) as error:
                self._problems[name] = f"not executed: {error}"

    def result(self, view: LayerView) -> LayerResult | None:
        """Return the result of a layer that is not executed; None if it is."""
        name = view.operation.name
        problem = self._problems.get(name, "")
        if name not in self._first or (not problem and all(fault.probe == VALUES for fault in self._faults[name])):
            return None
        types = {given.name: str(kind) for given, kind in zip(view.operation.inputs, view.input_types, strict=False)}
        attributes = dict(view.layer.attributes)
        layer = LayerResult(view.graph.path, view.layer.name or view.layer.type, name, types, attributes, problem=problem)
        first = self._first[name]
        if problem:
            return layer
        if view is first:
            return replace(layer, cases=self._cases(name))
        return replace(layer, problem=f"not executed: its library is at fault, as layer '{first.layer.name}' shows")

    def joined(self, view: LayerView, layer: LayerResult) -> LayerResult:
        """Add the results of the probes to the first executed layer of the operation."""
        name = view.operation.name
        is_first = self._first.get(name) is view and not layer.problem
        return replace(layer, cases=(*self._cases(name), *layer.cases)) if is_first else layer

    def _cases(self, name: str) -> tuple[CaseResult, ...]:
        """Return one case for each fault; if there is none, one for each probe."""
        found = [Comparison(_RUNTIME, Status.FAILED, str(fault), hangs=fault.hangs) for fault in self._faults[name]]
        probes = [fault.probe for fault in self._faults[name]] or PROBES
        comparisons = found or [Comparison(_RUNTIME, Status.PASSED)] * len(PROBES)
        return tuple(CaseResult(probe, (), 0, (result,)) for probe, result in zip(probes, comparisons, strict=True))

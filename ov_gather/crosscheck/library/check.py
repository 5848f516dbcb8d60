"""The probes of each kind of layer in a model that is of an operation of users, as results of the first one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from ov_gather.crosscheck.library.faults import PROBES, VALUES, LibraryFault
from ov_gather.crosscheck.library.probes import faults_of
from ov_gather.crosscheck.library.variants import with_defaults
from ov_gather.crosscheck.results import CaseResult, Comparison, LayerResult, Status
from ov_gather.extension.users import UserExtension
from ov_gather.ops.fields import OperationError
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.runtimes.isolated import borrowed

_RUNTIME = "library"


class Probed:
    """Results of the probes, by kind of layer: layers whose library is at fault beyond values are not executed.

    Layers of an operation are of one kind if they differ in types, sizes and values only, because the probes vary these.
    """

    def __init__(self, views: Sequence[LayerView], extensions: tuple[UserExtension, ...], seed: int, cases: int) -> None:
        self._kinds: dict[int, Hashable] = {}
        self._first: dict[Hashable, LayerView] = {}
        self._faults: dict[Hashable, list[LibraryFault]] = {}
        self._problems: dict[Hashable, str] = {}
        for view in (view for view in views if extensions and not view.is_of_family):
            kind: Hashable = view.operation.name
            try:
                alone = with_defaults(next(family_layers(isolate(view))))
                kind = _kind(alone)
                if kind not in self._first and view.operation.name not in self._problems:
                    with borrowed([_RUNTIME], extensions=extensions) as (runtime,):
                        self._faults[kind] = faults_of(alone, runtime, seed, cases)
                        runtime.stop()  # nothing else is executed in a process that may be damaged
            except OperationError as error:
                self._problems[view.operation.name] = f"not executed: {error}"
            except (TypeError, ValueError) as error:
                kind = id(view)
                self._problems[kind] = f"not executed: {error}"
            self._kinds[id(view)] = kind
            self._first.setdefault(kind, view)

    def result(self, view: LayerView) -> LayerResult | None:
        """Return the result of a layer that is not executed; None if it is."""
        name, kind = view.operation.name, self._kinds.get(id(view))
        problem = self._problems.get(name, "") or self._problems.get(kind, "")
        if kind is None or (not problem and all(fault.probe == VALUES for fault in self._faults[kind])):
            return None
        types = {given.name: str(kind) for given, kind in zip(view.operation.inputs, view.input_types, strict=False)}
        attributes = dict(view.layer.attributes)
        layer = LayerResult(view.graph.path, view.layer.name or view.layer.type, name, types, attributes, problem=problem)
        first = self._first[kind]
        if problem:
            return layer
        if view is first:
            return replace(layer, cases=self._cases(kind))
        return replace(layer, problem=f"not executed: its library is at fault, as layer '{first.layer.name}' shows")

    def joined(self, view: LayerView, layer: LayerResult) -> LayerResult:
        """Add the results of the probes to the first executed layer of its kind."""
        kind = self._kinds.get(id(view))
        is_first = self._first.get(kind) is view and not layer.problem
        return replace(layer, cases=(*self._cases(kind), *layer.cases)) if is_first else layer

    def _cases(self, kind: Hashable) -> tuple[CaseResult, ...]:
        """Return one case for each fault; if there is none, one for each probe."""
        found = [Comparison(_RUNTIME, Status.FAILED, str(fault), hangs=fault.hangs) for fault in self._faults[kind]]
        probes = [fault.probe for fault in self._faults[kind]] or PROBES
        comparisons = found or [Comparison(_RUNTIME, Status.PASSED)] * len(PROBES)
        return tuple(CaseResult(probe, (), 0, (result,)) for probe, result in zip(probes, comparisons, strict=True))


def _kind(view: LayerView) -> Hashable:
    """Return a key of a layer with defaults: its operation, ranks, constant inputs, and attributes that are at no default."""
    ports = range(len(view.layer.inputs))
    ranks = tuple(shape.rank for shape in view.input_shapes)
    attributes = frozenset(view.layer.attributes.items())
    return view.operation.name, ranks, attributes, tuple(port for port in ports if view.is_constant(port))

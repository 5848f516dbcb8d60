"""A fingerprint says that two findings, in two exports of a model, are the same one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from ov_gather.ir.attributes import meaning
from ov_gather.ir.location import Location
from ov_gather.ir.model import Model
from ov_gather.rules.findings import Finding

_COUNTED = re.compile(r"(\w+)_\d+")


def with_fingerprints(findings: Iterable[Finding], model: Model | None) -> list[Finding]:
    """Give each finding its fingerprint: a hash of the rule, of the sub-graphs around the layer, and of the layer's name, type,
    port and attributes.

    Ids, lines, the order of layers and the message are no part of it, so that it stays when a model is exported again, and
    when a later release of ov-gather says the same in other words. Findings that are alike in all of this are numbered.
    """
    findings = list(findings)
    if not findings:
        return []
    prints, seen = _Prints(model), Counter[str]()
    return [replace(finding, fingerprint=_numbered(prints.of(finding), seen)) for finding in findings]


class _Prints:
    """Fingerprints of one document. What findings of one layer have in common is made once."""

    def __init__(self, model: Model | None) -> None:
        self._graphs = dict(model.walk()) if model else {}
        self._layers: dict[tuple[Any, ...], tuple[bytes, dict[int, tuple[str, int]]]] = {}

    def of(self, finding: Finding) -> str:
        place = finding.location
        key = (place.subgraph_path, place.layer_id, place.layer_type, place.layer_name)
        if key not in self._layers:
            self._layers[key] = self._layer(place)
        layer, ports = self._layers[key]
        port = None if place.port is None else ports.get(place.port)
        return blake2b(layer + repr((finding.rule, port)).encode(), digest_size=8).hexdigest()

    def _layer(self, place: Location) -> tuple[bytes, dict[int, tuple[str, int]]]:
        """Hash the layer of a place and its way there; name each port by its position among the inputs or outputs."""
        graph = self._graphs.get(place.subgraph_path)
        layer = graph.layer_by_id.get(place.layer_id) if graph and place.layer_id is not None else None
        attributes = sorted(meaning(layer).items()) if layer else []
        way = [_without_count(*step) for step in _steps(place.subgraph_path)]
        parts = (way, place.layer_type, _without_count(place.layer_type, place.layer_name), attributes)
        sides = (("output", layer.outputs), ("input", layer.inputs)) if layer else ()
        ports = {port.id: (side, i) for side, of_side in sides for i, port in reversed(list(enumerate(of_side)))}
        return blake2b(repr(parts).encode()).digest(), ports


def _steps(subgraph_path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the type and the name of each layer that has a body, and nothing and the tag of the body."""
    for step in subgraph_path:
        kind, quoted, name = step.partition(" '")
        yield (kind, name.removesuffix("'")) if quoted else ("", step)


def _without_count(layer_type: str, name: str) -> str:
    """Leave out a name such as "Gather_123": OpenVINO gives it to a layer that has none, and counts anew in each process."""
    counted = _COUNTED.fullmatch(name)
    return "" if counted and counted[1] == layer_type else name


def _numbered(fingerprint: str, seen: Counter[str]) -> str:
    seen[fingerprint] += 1
    return fingerprint if seen[fingerprint] == 1 else f"{fingerprint}:{seen[fingerprint]}"

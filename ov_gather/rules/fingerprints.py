"""Fingerprints of findings, which are equal in different exports of the same model."""

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
    """Set the fingerprint of each finding.

    It is a hash of the rule, the enclosing sub-graphs, and the layer's name, type, port and attributes. It excludes ids, lines,
    the order of layers and the message, so that it survives another export of the model and other words in a later release of
    ov-gather. Findings with equal fingerprints are numbered.
    """
    findings = list(findings)
    if not findings:
        return []
    prints, seen = _Prints(model), Counter[str]()
    return [replace(finding, fingerprint=_numbered(prints.of(finding), seen)) for finding in findings]


class _Prints:
    """Fingerprints of one document; the part that findings of one layer share is cached."""

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
        """Hash the layer and its sub-graph path; map each port id to its side and position."""
        graph = self._graphs.get(place.subgraph_path)
        layer = graph.layer_by_id.get(place.layer_id) if graph and place.layer_id is not None else None
        attributes = sorted(meaning(layer).items()) if layer else []
        way = [_without_count(*step) for step in _steps(place.subgraph_path)]
        parts = (way, place.layer_type, _without_count(place.layer_type, place.layer_name), attributes)
        sides = (("output", layer.outputs), ("input", layer.inputs)) if layer else ()
        ports = {port.id: (side, i) for side, of_side in sides for i, port in reversed(list(enumerate(of_side)))}
        return blake2b(repr(parts).encode()).digest(), ports


def _steps(subgraph_path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the type and name of each enclosing layer, then ("", tag) of its body."""
    for step in subgraph_path:
        kind, quoted, name = step.partition(" '")
        yield (kind, name.removesuffix("'")) if quoted else ("", step)


def _without_count(layer_type: str, name: str) -> str:
    """Return "" for a name such as "Gather_123", which OpenVINO generates for unnamed layers with a counter per process."""
    counted = _COUNTED.fullmatch(name)
    return "" if counted and counted[1] == layer_type else name


def _numbered(fingerprint: str, seen: Counter[str]) -> str:
    seen[fingerprint] += 1
    return fingerprint if seen[fingerprint] == 1 else f"{fingerprint}:{seen[fingerprint]}"

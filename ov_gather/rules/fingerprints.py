"""A fingerprint says that two findings, in two exports of a model, are the same one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b

from ov_gather.ir.attributes import meaning
from ov_gather.ir.model import Layer, Model
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
    graphs = dict(model.walk()) if model else {}
    seen: Counter[str] = Counter()
    return [replace(finding, fingerprint=_numbered(_fingerprint(finding, graphs), seen)) for finding in findings]


def _fingerprint(finding: Finding, graphs: dict[tuple[str, ...], Model]) -> str:
    place = finding.location
    graph = graphs.get(place.subgraph_path)
    layer = graph.layer_by_id.get(place.layer_id) if graph and place.layer_id is not None else None
    attributes = sorted(meaning(layer).items()) if layer else []
    way = [_without_count(*step) for step in _steps(place.subgraph_path)]
    named = _without_count(place.layer_type, place.layer_name)
    parts = (finding.rule, way, place.layer_type, named, _port(layer, place.port), attributes)
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def _port(layer: Layer | None, port_id: int | None) -> tuple[str, int] | None:
    """Name a port by its position among the inputs or outputs of its layer."""
    sides = (("input", layer.inputs), ("output", layer.outputs)) if layer else ()
    return next(((side, i) for side, ports in sides for i, port in enumerate(ports) if port.id == port_id), None)


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

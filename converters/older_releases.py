"""Lowering of an IR to an older release of OpenVINO, by equivalent versions of its operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ov_gather.ir.model import Layer, Model
from ov_gather.rules.base import Violation
from ov_gather.rules.opset_table import OLDER
from ov_gather.rules.opsets import in_any_case, opsets_of
from ov_gather.rules.releases import opsets_with
from ov_gather.rules.targets import Targeted, element_type_of_later_release, operation_of_later_release


@dataclass(frozen=True, slots=True)
class Lowered:
    """A lowered model, the changed layers (as they were) with their new opsets, and the remaining violations."""

    model: Model
    changes: tuple[tuple[Layer, str], ...]
    left: tuple[Violation, ...]


def lower(model: Model, release: str) -> Lowered:
    """Rewrite the opset of each layer, sub-graphs included, to one that the release (one of RELEASES) has.

    A layer is left unchanged if the release has no equivalent version of its operation.
    """
    changes: list[tuple[Layer, str]] = []
    lowered = _graph(model, release, changes)
    graphs = [Targeted(graph, release) for _, graph in lowered.walk()]
    rules = (operation_of_later_release, element_type_of_later_release)
    left = tuple(violation for graph in graphs for rule in rules for violation in rule.violations(graph))
    return Lowered(lowered, tuple(changes), left)


def _graph(graph: Model, release: str, changes: list[tuple[Layer, str]]) -> Model:
    return replace(graph, layers=tuple(_layer(layer, release, changes) for layer in graph.layers))


def _layer(layer: Layer, release: str, changes: list[tuple[Layer, str]]) -> Layer:
    bodies = tuple(_graph(body, release, changes) for body in layer.bodies)
    changed = replace(layer, bodies=bodies) if bodies else layer
    layer_type = in_any_case().get(layer.type.lower(), layer.type)
    there = opsets_with(layer_type, release)
    if layer.version in there or layer.version not in opsets_of(layer_type):
        return changed
    for opset, attributes in _same(layer, layer_type):
        if opset in there:
            changes.append((layer, opset))
            return replace(changed, version=opset, attributes=attributes)
    return changed


def _same(layer: Layer, layer_type: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the opset and attributes of each version that is equivalent for this layer."""
    first = opsets_of(layer_type)[str(layer.version)]
    yield first, layer.attributes
    older, name, values = OLDER.get((layer_type, first), ("", "", ()))
    if older and layer.attributes.get(name, values[0]).replace(" ", "").lower() in values:
        yield older, {key: value for key, value in layer.attributes.items() if key != name}

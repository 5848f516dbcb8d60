"""All rules by id: those of the modules named here."""

from __future__ import annotations

from collections.abc import Mapping

from ov_gather.rules import (
    attributes,
    constants,
    document,
    graph,
    indices,
    inference,
    known_faults,
    operations,
    portability,
    ports,
    shapes,
    subgraphs,
    targets,
    types,
)
from ov_gather.rules.base import Rule

_MODULES = (
    *(attributes, constants, document, graph, indices, inference, known_faults, operations, portability, ports, shapes),
    *(subgraphs, targets, types),
)
_ALL = [rule for module in _MODULES for rule in vars(module).values() if isinstance(rule, Rule)]

RULES: Mapping[str, Rule] = {rule.id: rule for rule in sorted(_ALL, key=lambda rule: rule.id)}

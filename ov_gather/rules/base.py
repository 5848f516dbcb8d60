"""What a rule is, and the register of all rules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ov_gather.ir.model import Layer, Model
from ov_gather.ir.reader import Document
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.findings import Severity


@dataclass(frozen=True, slots=True)
class Violation:
    """What a check yields; with the rule's id and severity it becomes a Finding. Only a document rule gives the `trail`."""

    message: str
    hint: str
    line: int
    layer: Layer | None = None
    port: int | None = None
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that validation checks. `check` takes what `scope` names: a Document, a Model (graph) or a LayerView."""

    id: str
    severity: Severity
    scope: type
    check: Callable[[Any], Iterator[Violation]]

    @property
    def name(self) -> str:
        """What the check is called, e.g. "missing_attribute"."""
        return str(getattr(self.check, "__name__", ""))

    @property
    def documentation(self) -> str:
        """The text for people: the docstring of the check."""
        return inspect.getdoc(self.check) or ""

    @property
    def summary(self) -> str:
        """The first paragraph of the documentation, on one line."""
        return " ".join(self.documentation.split("\n\n")[0].split())


RULES: dict[str, Rule] = {}


def document_rule(
    rule_id: str, severity: Severity = Severity.ERROR
) -> Callable[[Callable[[Document], Iterator[Violation]]], Callable[[Document], Iterator[Violation]]]:
    """Register a check of the document as a whole."""
    return lambda check: _register(Rule(rule_id, severity, Document, check))


def graph_rule(
    rule_id: str, severity: Severity = Severity.ERROR
) -> Callable[[Callable[[Model], Iterator[Violation]]], Callable[[Model], Iterator[Violation]]]:
    """Register a check of one graph: the model's or that of a sub-graph body."""
    return lambda check: _register(Rule(rule_id, severity, Model, check))


def layer_rule(
    rule_id: str, severity: Severity = Severity.ERROR
) -> Callable[[Callable[[LayerView], Iterator[Violation]]], Callable[[LayerView], Iterator[Violation]]]:
    """Register a check of one gather-family layer that has all its ports."""
    return lambda check: _register(Rule(rule_id, severity, LayerView, check))


def register_rule(
    rule_id: str, scope: type, severity: Severity = Severity.ERROR
) -> Callable[[Callable[[Any], Iterator[Violation]]], Callable[[Any], Iterator[Violation]]]:
    """Register a check of something else, which only runs where that is at hand."""
    return lambda check: _register(Rule(rule_id, severity, scope, check))


def _register(rule: Rule) -> Callable[[Any], Iterator[Violation]]:
    assert rule.id not in RULES, rule.id
    RULES[rule.id] = rule
    return rule.check

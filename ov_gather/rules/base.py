"""Rules, and the violations that their checks yield."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Any, TypeVar

from ov_gather.ir.location import Location
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.rules.findings import Severity
from ov_gather.rules.fixes import Fix

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Violation:
    """What a check yields. Validation adds the rule and the file, which a check does not know, and makes it a Finding."""

    message: str
    hint: str
    location: Location
    fix: Fix | None = None

    @classmethod
    def at(
        cls,
        place: Model | Layer,
        message: str,
        hint: str,
        *,
        port: Port | None = None,
        line: int | None = None,
        subgraph_path: tuple[str, ...] = (),
        fix: Fix | None = None,
    ) -> Violation:
        """Return a violation at a graph, a layer, or a port of a layer.

        Args:
            place: the graph or the layer.
            message: what is wrong.
            hint: what would be right.
            port: the port of the layer that is wrong, if any.
            line: the line of the fault; by default that of the port, else that of the place.
            subgraph_path: path to the layer's graph; only checks of whole documents pass it, otherwise validation adds it.
            fix: the repair, if it is mechanical.
        """
        line = place.line + (port.below if port else 0) if line is None else line
        if isinstance(place, Model):
            return cls(message, hint, Location("", line, subgraph_path=subgraph_path), fix)
        port_id = port.id if port else None
        return cls(message, hint, Location("", line, place.id, place.name, place.type, port_id, subgraph_path), fix)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that validation checks.

    `check` takes a subject of a type of `scope`, such as a Model, and yields its violations. `unless` is a cheap test that
    returns True only if there can be none; the check does not run then.
    """

    id: str
    scope: type | UnionType
    severity: Severity
    check: Callable[[Any], Iterator[Violation]]
    unless: Callable[[Any], bool] | None = None

    def violations(self, subject: Any) -> Iterable[Violation]:
        """Return the violations of a subject."""
        return () if self.unless is not None and self.unless(subject) else self.check(subject)

    @property
    def name(self) -> str:
        """The name of the check, e.g. "missing_attribute"."""
        return str(getattr(self.check, "__name__", ""))

    @property
    def documentation(self) -> str:
        """The text for people: the docstring of the check."""
        return inspect.getdoc(self.check) or ""

    @property
    def summary(self) -> str:
        """The first paragraph of the documentation, on one line."""
        return " ".join(self.documentation.split("\n\n")[0].split())


def rule(
    rule_id: str, scope: type[T] | UnionType, severity: Severity = Severity.ERROR, *, unless: Callable[[T], bool] | None = None
) -> Callable[[Callable[[T], Iterator[Violation]]], Rule]:
    """Decorate a check to make it a rule. The check's docstring is the documentation of the rule.

    A scope is a Document; a Model, which is one graph: the top-level one or the body of a sub-graph; a LayerView, which is one
    gather-family layer with all its ports; a Judged, which is a layer of another operator that has a contract; a Judge, which
    knows the links of a graph of which an end is in doubt; a class that a module defines for its own rules; or a union.
    """
    return lambda check: Rule(rule_id, scope, severity, check, unless)

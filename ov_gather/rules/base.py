"""This module tells what a rule is, and what its check yields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from ov_gather.ir.location import Location
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.rules.findings import Severity
from ov_gather.rules.fixes import Fix

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Violation:
    """What a check yields. Validation makes a Finding of it: it adds the rule and the file, which a check does not know."""

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
            port: the port of the layer that is wrong, if it is one.
            line: the line of the fault; by default that of the port or else of the place.
            subgraph_path: the way to a layer of a sub-graph. Only checks of whole documents give it; validation knows it else.
            fix: how it is mended, where that is mechanical.
        """
        line = place.line + (port.below if port else 0) if line is None else line
        if isinstance(place, Model):
            return cls(message, hint, Location("", line, subgraph_path=subgraph_path), fix)
        port_id = port.id if port else None
        return cls(message, hint, Location("", line, place.id, place.name, place.type, port_id, subgraph_path), fix)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that validation checks.

    `check` takes a subject of the type `scope`, such as a Model, and yields what is wrong with it. `unless` is a cheap test:
    where it holds, nothing can be wrong, and the check does not run.
    """

    id: str
    scope: type
    severity: Severity
    check: Callable[[Any], Iterator[Violation]]
    unless: Callable[[Any], bool] | None = None

    def violations(self, subject: Any) -> Iterable[Violation]:
        """Yield what is wrong with a subject of this rule."""
        return () if self.unless is not None and self.unless(subject) else self.check(subject)

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


def rule(
    rule_id: str, scope: type[T], severity: Severity = Severity.ERROR, *, unless: Callable[[T], bool] | None = None
) -> Callable[[Callable[[T], Iterator[Violation]]], Rule]:
    """Make a rule of the check that follows. The docstring of the check is the documentation of the rule.

    A scope is a whole Document; a Model, which is one graph: that of the model or the body of a sub-graph; a LayerView, which
    is one gather-family layer that has all its ports; or what a module of rules defines for its own rules.
    """
    return lambda check: Rule(rule_id, scope, severity, check, unless)

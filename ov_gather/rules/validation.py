"""`validate`: run every rule over one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ir.location import Location
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Document, Source, path_of, read_document
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.rules import (
    attributes,
    constants,
    document,
    graph,
    indices,
    inference,
    operations,
    portability,
    ports,
    shapes,
    subgraphs,
    types,
)
from ov_gather.rules.base import RULES, Rule, Violation
from ov_gather.rules.findings import Finding, Severity
from ov_gather.rules.selection import select_rules

# Imported for their rules, which register themselves.
__all__ = [
    "RULES",
    "attributes",
    "constants",
    "document",
    "graph",
    "indices",
    "inference",
    "operations",
    "portability",
    "ports",
    "shapes",
    "subgraphs",
    "types",
    "validate",
]


@paused_collection()
def validate(source: Source, *, select: Iterable[str] = (), ignore: Iterable[str] = (), infer: bool = False) -> list[Finding]:
    """Check a whole IR or a bare layer fragment, without any runtime.

    Args:
        source: what `read_ir` takes: path of the .xml, its bytes, a binary file object, or an lxml element or tree.
        select: rule ids or groups ("OVG401", "OVG4") to check; all if empty.
        ignore: rule ids or groups not to check.
        infer: compare declared outputs with what OpenVINO infers, too, where nothing worse is found (OVG407).

    Returns:
        The findings, in the order of the document. A document that cannot be opened or read is a finding, too.

    Raises:
        ValueError: `select` or `ignore` names a rule or group that there is not.
        ImportError: `infer` needs openvino, which is not installed.
    """
    return validate_document(open_document(source), path_of(source) or "<memory>", select=select, ignore=ignore, infer=infer)


def open_document(source: Source) -> Document:
    """Read as much as can be read; that it cannot be opened is what is wrong with it, too."""
    try:
        return read_document(source)
    except OSError as error:
        reason = f"cannot be opened: {error.strerror or error}"
        return Document(None, (IRError(Fault.FILE, reason, Location(path_of(source), 0)),))


def validate_document(
    document: Document, path: str, *, select: Iterable[str] = (), ignore: Iterable[str] = (), infer: bool = False
) -> list[Finding]:
    """`validate` for a document that has been read."""
    rules = select_rules(select, ignore)
    findings = list(_findings(path, _violations(document, rules)))
    if document.model is not None and document.model.weights and document.model.weights.was_cut():
        # While the rules read it: what they found holds no more, and what is missing now is to be said.
        document = document.with_constants_checked()
        findings = list(_findings(path, _violations(document, rules)))
    if infer and not any(finding.severity is Severity.ERROR for finding in findings):
        findings += _findings(path, _drift(document, rules))
    return sorted(findings, key=lambda finding: (finding.location.line, finding.rule))


def _findings(path: str, violations: Iterable[tuple[Rule, tuple[str, ...], Violation]]) -> Iterator[Finding]:
    for rule, trail, violation in violations:
        yield Finding(rule.id, rule.severity, violation.message, violation.hint, _location(path, violation, trail))


def not_checked(path: str, reason: str, hint: str) -> list[Finding]:
    """The finding for a file whose check did not come to its end."""
    return validate_document(Document(None, (IRError(Fault.CHECK, reason, Location(path, 0), hint),)), path)


def _violations(document: Document, rules: list[Rule]) -> Iterator[tuple[Rule, tuple[str, ...], Violation]]:
    by_scope = {scope: [rule for rule in rules if rule.scope is scope] for scope in (Document, Model, LayerView)}
    for rule in by_scope[Document]:
        yield from ((rule, violation.trail, violation) for violation in rule.check(document))
    if document.model is None or document.damaged:
        return  # what was not read whole is not judged further
    for trail, graph_ in document.model.walk():
        for rule in by_scope[Model]:
            yield from ((rule, trail, violation) for violation in rule.check(graph_))
        for view in family_layers(graph_):
            if view.has_all_ports:  # else OVG104 has said it
                for rule in by_scope[LayerView]:
                    yield from ((rule, trail, violation) for violation in rule.check(view))


def _drift(document: Document, rules: list[Rule]) -> Iterator[tuple[Rule, tuple[str, ...], Violation]]:
    asked = [rule for rule in rules if rule.scope is inference.Inferred]
    if document.model is None or document.model.is_fragment or not asked:
        return
    for trail, inferred in inference.inferred_graphs(document.model):
        for rule in asked:
            yield from ((rule, trail, violation) for violation in rule.check(inferred))


def _location(path: str, violation: Violation, trail: tuple[str, ...]) -> Location:
    layer = violation.layer
    if layer is None:
        return Location(path, violation.line, trail=trail)
    return Location(path, violation.line, layer.id, layer.name, layer.type, violation.port, trail)

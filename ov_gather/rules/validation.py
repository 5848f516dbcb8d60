"""`validate`: all rules applied to one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, get_args

from ov_gather.extension.users import Given, UserExtension, loaded
from ov_gather.graph.ir import IrGraph
from ov_gather.ir.errors import NOWHERE
from ov_gather.ir.files import Place
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Document, Source, WeightsSource, path_of, read_document
from ov_gather.ops.contracts.judging import Judge, Judged
from ov_gather.ops.fields import OperationError
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.base import Rule, Violation
from ov_gather.rules.constants import Payloads
from ov_gather.rules.document import Unfinished, Unopened
from ov_gather.rules.findings import Finding, Findings, Severity
from ov_gather.rules.fingerprints import with_fingerprints
from ov_gather.rules.indices import ErrorFreeModel
from ov_gather.rules.inference import Inferred, inferred_graphs
from ov_gather.rules.known_faults import Executed
from ov_gather.rules.register import RULES
from ov_gather.rules.releases import release_named
from ov_gather.rules.selection import select_rules
from ov_gather.rules.targets import Targeted
from ov_gather.system.tables import shortened

NOT_CHECKED = "OVG099"
"""The rule that reports an unfinished check."""
_NOT_IN_THE_WAY = ("OVG406", "OVG6", "OVG7")
"""Rules whose errors do not prevent a proof: indices are its subject, and OpenVINO itself writes Ifs that violate OVG406."""


@paused_collection()
def validate(
    source: Source,
    *,
    weights: WeightsSource = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    infer: bool = False,
    target: str = "",
    extensions: Iterable[Given] = (),
) -> list[Finding]:
    """Check a whole IR or a bare layer fragment, without any runtime.

    Args:
        source: what `read_ir` takes: path of the .xml, its bytes, a binary file object, an lxml element or tree, or an
            `openvino.Model`.
        weights: path or bytes of the .bin, if it is not beside the .xml.
        select: rule ids or groups ("OVG401", "OVG4") to check; all if empty.
        ignore: rule ids or groups not to check.
        infer: also compare declared outputs with those that OpenVINO infers, if there is no error (OVG407).
        target: a release of OpenVINO, such as "2025.4": also report what that release lacks (OVG708, OVG709), and its known
            faults (OVG710, OVG711), including those that show for some inputs only (OVG712).
        extensions: with `infer`: libraries, "module:Class" or classes of `openvino.Op` with operations of yours.

    Returns:
        The findings, in document order; notebooks show the list as a table. A document that cannot be opened or read is a
            finding, too.

    Raises:
        TypeError: `source`, `select`, `ignore` or `target` is of another type.
        ValueError: `select` or `ignore` names an unknown rule or group, or `target` an unknown release; an extension cannot be
            loaded.
        ImportError: `infer` needs openvino, which is not installed.
    """
    _, findings = read_and_validate(
        source, weights=weights, select=select, ignore=ignore, infer=infer, target=target, extensions=extensions
    )
    return Findings(findings)


def read_and_validate(
    source: Source,
    *,
    weights: WeightsSource = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    infer: bool = False,
    target: str = "",
    extensions: Iterable[Given] = (),
) -> tuple[Model | None, list[Finding]]:
    """Return the model, or None if a part of it could not be read; and the findings of `validate`."""
    path = path_of(source) or "<memory>"
    rules = select_rules(select, ignore)
    release = release_named(target) if target else ""
    known = loaded(extensions) if infer else ()
    try:
        document = read_document(source, weights)
    except OSError as error:
        unopened = _findings(path, rules, [((), Unopened(error.strerror or str(error)))])
        return None, with_fingerprints(unopened, None)
    findings = _checked(document, path, rules, release, known if infer else None)
    return None if document.problems else document.model, findings


def not_checked(path: str, reason: str, hint: str) -> list[Finding]:
    """Return the finding for a file whose check was not finished."""
    return with_fingerprints(_findings(path, list(RULES.values()), [((), Unfinished(reason, hint))]), None)


def read_for_proofs(path: Place) -> tuple[Model | None, list[Finding]]:
    """Return the model, or None if it cannot be read, or a declaration fails on it; and the errors that prevent proofs."""
    try:
        model, findings = read_and_validate(path, ignore=_NOT_IN_THE_WAY)
    except OperationError as error:
        return None, wrong_declaration(str(path), error)
    return model, [finding for finding in findings if finding.severity is Severity.ERROR]


def wrong_declaration(path: str, error: OperationError) -> list[Finding]:
    """Return the finding for a file of which a check was not finished, as an operation of a user is declared wrongly."""
    subject = Unfinished(str(error), "correct the declaration", error.location or NOWHERE)
    return with_fingerprints(_findings(path, list(RULES.values()), [((), subject)]), None)


def _checked(
    document: Document, path: str, rules: list[Rule], release: str, extensions: tuple[UserExtension, ...] | None
) -> list[Finding]:
    """Return all findings; those of OpenVINO's inference, with these extensions, only if `extensions` is not None."""
    findings, model = list(_findings(path, rules, _subjects(document))), document.model
    if model is not None and model.weights:
        if model.weights.was_cut():
            # The file was truncated while the rules read it: discard their findings, and report the missing payloads.
            document = document.with_constants_checked()
            findings = list(_findings(path, rules, _subjects(document)))
        if trouble := model.weights.trouble():
            return not_checked(path, trouble, "try again, or ask whoever serves the file")
    if model is not None and not model.is_fragment and not _has_error(findings):
        graph = IrGraph(model)
        findings += _findings(path, rules, [((), ErrorFreeModel(model, graph)), ((), Executed.by(graph, release))])
        if extensions is not None and any(rule.scope is Inferred for rule in rules) and not _has_error(findings):
            findings += _findings(path, rules, inferred_graphs(model, extensions))
    if release and model is not None and not document.damaged:
        findings += _findings(path, rules, ((way, Targeted(graph, release)) for way, graph in model.walk()))
    return with_fingerprints(sorted(findings, key=lambda finding: (finding.location.line, finding.rule)), model)


def _has_error(findings: Iterable[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def _subjects(document: Document) -> Iterator[tuple[tuple[str, ...], Document | Payloads | Model | LayerView | Judged | Judge]]:
    """Yield the subjects of rules with their sub-graph paths: document, payloads, graphs, layers of known operators, links."""
    yield (), document
    if document.model is None or document.damaged:
        return  # rules need a model that was read completely
    yield (), Payloads(document)
    for subgraph_path, graph in document.model.walk():
        yield subgraph_path, graph
        judge = Judge(graph)
        yield from ((subgraph_path, subject) for subject in judge.subjects())
        yield subgraph_path, judge


def _findings(path: str, rules: Iterable[Rule], subjects: Iterable[tuple[tuple[str, ...], Any]]) -> Iterator[Finding]:
    by_scope: dict[type, list[Rule]] = {}
    for rule in rules:
        for scope in get_args(rule.scope) or (rule.scope,):
            by_scope.setdefault(scope, []).append(rule)
    for subgraph_path, subject in subjects:
        for rule in by_scope.get(type(subject), ()):
            for violation in _violations(rule, subject, subgraph_path):
                way = subgraph_path or violation.location.subgraph_path
                location = replace(violation.location, path=path, subgraph_path=way)
                message, hint = shortened(violation.message), shortened(violation.hint)
                yield Finding(rule.id, rule.severity, message, hint, location, fix=violation.fix)


def _violations(rule: Rule, subject: Any, subgraph_path: tuple[str, ...]) -> Iterator[Violation]:
    """Yield the violations of a subject. Raises OperationError, with the location of the layer if the subject is one."""
    try:
        yield from rule.violations(subject)
    except OperationError as error:
        if isinstance(subject, LayerView):
            error.location = Violation.at(subject.layer, "", "", subgraph_path=subgraph_path).location
        raise

"""HTML report of `ov-gather prove`: each gather and scatter with the way of its indices, and what is known at each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ov_gather.graph.excerpts import Excerpt
from ov_gather.ranges.proof import Proof, Status, range_text, why
from ov_gather.ranges.proofs import requirements
from ov_gather.report.elements import Element, element
from ov_gather.report.page import cards
from ov_gather.report.page.graph import graph
from ov_gather.report.page.skeleton import fact_list, header, page, row, table
from ov_gather.report.places import message_text, path_text, place_text
from ov_gather.report.proofs.report import ProofReport, ProvedFile, next_steps
from ov_gather.system.tables import counted

_OPEN = 10
_CLASSES: Mapping[Status, str] = {"refuted": "failed", "unknown": "expected", "conditional": "expected", "proved": "passed"}
_MARKS: Mapping[Status, str] = {"refuted": "✗", "unknown": "?", "conditional": "≈", "proved": "✓"}
_MEANINGS: Mapping[Status, str] = {
    "refuted": "an index is out of bounds in every run that gets to the layer",
    "unknown": "none of the others is shown",
    "conditional": "in bounds if inputs and sizes are within ranges",
    "proved": "no index is out of bounds, whatever the inputs are",
}

Numbered = tuple[int, str, Proof]
"""A proof with its number on the page and the path of its file."""


def render(report: ProofReport) -> str:
    """Return the page: summary, errors of files, what inputs must satisfy, the sites by status, and what to do next."""
    worst = next((status for status in _CLASSES if report.counts[status]), None)
    verdict = f"{_MARKS[worst]} {worst.capitalize()}" if worst else "Nothing to prove"
    top = header("ov-gather prove", verdict, _CLASSES[worst] if worst else "none", *_lead(report))
    parts = (part for section in (_findings, _counts, _requirements, _sites, _next) for part in section(report))
    return page(f"ov-gather prove: {worst or 'nothing to prove'}", top, *parts)


def _lead(report: ProofReport) -> Iterator[Element | str]:
    """Yield the sentence that counts sites and errors, with a link to the first of each kind that is not proved."""
    statuses = [proof.status for file in report.files for proof in file.proofs]
    sites = "1 gather or scatter" if len(statuses) == 1 else f"{len(statuses):,} gathers and scatters"
    yield f"{sites} in {counted(len(report.files), 'file')}"
    for status in _CLASSES:
        if status != "proved" and status in statuses:
            where = f"#{cards.anchor(statuses.index(status))}"
            yield from (", ", element("a", f"{report.counts[status]:,} {status}", href=where))
    if errors := sum(len(file.findings) for file in report.files):
        yield from (", ", element("a", counted(errors, "error"), href="#findings"), " in files that were not analysed")
    yield "."


def _counts(report: ProofReport) -> Iterator[Element]:
    tallies = (_tally(status, report.counts[status]) for status in _CLASSES)
    yield element("h2", "By status")
    yield element("dl", *tallies, class_="tallies")


def _tally(status: Status, count: int) -> Element:
    mark = element("dt", f"{_MARKS[status]} {status}", class_=_CLASSES[status] if count else "none")
    return element("div", mark, element("dd", f"{count:,}", class_="count"), element("dd", _MEANINGS[status]))


def _requirements(report: ProofReport) -> Iterator[Element]:
    """Yield what inputs and sizes of each file must satisfy for its conditional sites."""
    found = ((file.path, one) for file in report.files for one in requirements(file.conditions))
    rows = [row(path_text(path), str(requirement)) for path, requirement in found]
    if rows:
        heading = element("h2", "What inputs must satisfy")
        yield element("section", heading, table("requirements", ("file", "in bounds if"), rows))


def _sites(report: ProofReport) -> Iterator[Element]:
    proofs = list(enumerate((path_text(file.path), proof) for file in report.files for proof in file.proofs))
    if not proofs:
        return
    packed: cards.Packed | None = {} if len(proofs) > cards.WITH_CONTENT else None
    by_status: dict[Status, list[Numbered]] = {status: [] for status in _CLASSES}
    for number, (path, proof) in proofs:
        by_status[proof.status].append((number, path, proof))
    worst = [number for some in by_status.values() for number, _, proof in some if proof.status != "proved"]
    opened = set(worst[:_OPEN])
    groups = []
    for status, some in by_status.items():
        if some:
            heading = element("h3", f"{_MARKS[status]} {status.capitalize()}", element("span", f"{len(some):,}"))
            heading.set("class", _CLASSES[status])
            groups.append(element("section", heading, *(_card(*each, packed, opened) for each in some), class_="group"))
    fields = {
        "status": cards.options("any status", (status for status in _CLASSES if by_status[status])),
        "operation": cards.options("any operation", sorted({proof.type for _, (_, proof) in proofs})),
        "file": cards.options("any file", dict.fromkeys(path for _, (path, _) in proofs)),
    }
    form = cards.filters("name, file, operation", fields)
    yield element("section", element("h2", "Gathers and scatters"), *cards.packing(packed or {}), form, *groups)


def _card(number: int, path: str, proof: Proof, packed: cards.Packed | None, opened: set[int]) -> Element:
    title = element("h4", proof.layer, " ", element("small", proof.type))
    place = path + (f":{proof.line}" if proof.line else "")
    heading = (title, element("p", place, class_="path"), element("p", f"{_MARKS[proof.status]} {why(proof)}", class_="reason"))
    facts: dict[str, list[str]] = {"status": [proof.status], "operation": [proof.type], "file": [path]}
    is_open = number in opened
    return cards.card(number, heading, _content(proof), facts, None if is_open else packed, is_open=is_open)


def _content(proof: Proof) -> Iterator[Element]:
    size = "" if proof.axis is None else f"{proof.axis}, of size {proof.axis_size}"
    yield fact_list({"indices": range_text(*proof.index_range), "axis": size})
    if proof.path is not None:
        caption = (
            "How the indices are computed, from the first value that is followed to the layer, with what is known of each."
        )
        yield graph(_marked(proof.path, proof.status), caption, downwards=True)


def _marked(path: Excerpt, status: Status) -> Excerpt:
    return replace(path, nodes=(replace(path.nodes[0], mark=_CLASSES[status]), *path.nodes[1:]))


def _next(report: ProofReport) -> Iterator[Element]:
    """Yield the commands that help with what is not proved."""
    steps = [
        (element("p", f"{purpose.capitalize()}:", class_="label"), element("pre", command, class_="replay"))
        for command, purpose in next_steps(report)
    ]
    if steps:
        yield element("section", element("h2", "What to do next"), *(part for step in steps for part in step))


def _findings(report: ProofReport) -> Iterator[Element]:
    """Yield the errors of files that were not analysed."""
    rows = [row for file in report.files for row in _rows(file)]
    if rows:
        heading = element("h2", "Not analysed, because of errors")
        content = table("errors", ("rule", "place", "what is wrong"), rows)
        yield element("section", heading, content, class_="findings", id="findings")


def _rows(file: ProvedFile) -> Iterator[Element]:
    for finding in file.findings:
        yield row(finding.rule, place_text(finding.location), message_text(finding))

"""One layer on the page: what it is, how fast each runtime was, what failed, and the matrix of cases and runtimes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

from ov_gather.crosscheck.results import CaseResult, Comparison, LayerResult, Status
from ov_gather.report.check.elements import element, fact_list, table
from ov_gather.report.check.html_failure import failure
from ov_gather.report.check.report import failures, outcome, word
from ov_gather.report.findings.base import path_text

MARKS = {Status.PASSED: "✓", Status.EXPECTED: "≈", Status.FAILED: "✗", Status.NOT_APPLICABLE: "–"}


def css_class(status: Status) -> str:
    """What the style sheet and the script call it."""
    return word(status).replace(" ", "-")


def anchor(number: int) -> str:
    """A place within the card of a layer, so that a link to it opens the card."""
    return f"layer-{number}"


def card(number: int, layer: LayerResult, in_full: int) -> Element:
    """One layer, closed, and so many of its failures in full; the others are in the matrix."""
    shown = {id(it): (f"failure-{number}-{i}", case, it) for i, (case, it) in enumerate(failures(layer)[:in_full])}
    outcomes = dict.fromkeys([outcome(layer), *(it.status for it in layer.comparisons)])
    title = element("h4", layer.layer, " ", element("small", layer.operation))
    chips = element("ul", *(_chip(name, count) for name, count in layer.counts.items()), class_="chips")
    return element(
        "details",
        element("summary", title, element("p", path_text(layer.path), class_="path"), chips),
        element("div", *_about(layer), class_="about", id=anchor(number)),
        *(failure(*it) for it in shown.values()),
        *_matrix(layer, {key: it[0] for key, it in shown.items()}),
        class_="layer",
        data_outcome=" ".join(map(css_class, outcomes)),
    )


def _chip(runtime: str, counts: Mapping[Status, int]) -> Element:
    tallies = (
        element("span", f" {mark} {counts[it]}", class_=css_class(it), title=word(it))
        for it, mark in MARKS.items()
        if counts.get(it)
    )
    outcomes = " ".join(css_class(it) for it in MARKS if counts.get(it))
    return element("li", runtime, *tallies, data_runtime=runtime, data_outcome=outcomes)


def _about(layer: LayerResult) -> Iterator[Element]:
    if layer.problem:
        yield element("p", layer.problem, class_="problem")
    facts = {
        "types": ", ".join(f"{name} {element_type}" for name, element_type in layer.types.items()),
        "attributes": ", ".join(f"{name} {value}" for name, value in layer.attributes.items()),
        "our kernel": layer.kernel,
        "assumed": ", ".join(layer.assumptions),
    }
    if any(facts.values()):
        yield fact_list(facts)
    yield from _times(layer)


def _times(layer: LayerResult) -> Iterator[Element]:
    """A bar for each runtime: its time for the cases that all of them executed."""
    timed = [{it.runtime: it.seconds for it in case.comparisons if it.seconds is not None} for case in layer.cases]
    runtimes = [name for name in layer.counts if any(name in times for times in timed)]
    common = [times for times in timed if len(times) == len(runtimes)]
    if not runtimes or not common:
        return
    totals = {name: sum(times[name] for times in common) for name in runtimes}
    longest = max(totals.values()) or 1
    rows = (
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", element("span", style=f"width: {total / longest:.1%}"), class_="time"),
            element("td", duration(total)),
        )
        for name, total in totals.items()
    )
    caption = f"Time for {len(common)} of {len(layer.cases)} cases, each executed once: an impression, no benchmark"
    yield element("table", element("caption", caption), element("tbody", *rows), class_="times")


def _matrix(layer: LayerResult, links: Mapping[int, str]) -> Iterator[Element]:
    """Rows are cases, columns runtimes; a cell leads to its failure or its divergence. `links` by id of a comparison."""
    if not layer.cases:
        return
    runtimes = list(layer.counts)
    rows = (
        element(
            "tr",
            element("th", case.name, scope="row"),
            *_cells(case, runtimes, links),
            element("td", f"{case.threads or 'any'}"),
            element("td", " ".join(str(list(shape)) for shape in case.shapes)),
        )
        for case in layer.cases
    )
    yield table("cases and runtimes", ("case", *runtimes, "threads", "shapes"), rows)


def _cells(case: CaseResult, runtimes: Sequence[str], links: Mapping[int, str]) -> Iterator[Element]:
    by_runtime = {it.runtime: it for it in case.comparisons}
    for name in runtimes:
        it = by_runtime.get(name)
        yield element("td", "not asked", class_="none") if it is None else _cell(it, links.get(id(it), ""))


def _cell(it: Comparison, failure_id: str) -> Element:
    what: list[Element | str] = [element("a", name, href=f"#divergence-{name}") for name in it.divergences]
    if it.status is Status.PASSED:
        what = [it.detail or ("" if it.seconds is None else duration(it.seconds))]
    elif it.status is Status.FAILED:
        what = [element("a", "failed", href=f"#{failure_id}") if failure_id else element("span", it.detail)]
    title = word(it.status) + (f": {it.detail}" if it.status is Status.EXPECTED else "")
    return element("td", f"{MARKS[it.status]} ", *what, class_=css_class(it.status), title=title)


def duration(seconds: float) -> str:
    """In the unit that suits it."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.0f} µs"

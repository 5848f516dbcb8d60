"""One layer in the HTML report: its facts, times by runtime, failures, and the matrix of cases and runtimes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from lxml import etree

from ov_gather.crosscheck.deviation import Deviation, far_off
from ov_gather.crosscheck.results import CaseResult, Comparison, Difference, LayerResult, Status
from ov_gather.report.check.page import fact_list, row, table
from ov_gather.report.check.report import failures, outcome, word
from ov_gather.report.elements import Element, element
from ov_gather.report.places import path_text

MARKS = {Status.PASSED: "✓", Status.EXPECTED: "≈", Status.FAILED: "✗", Status.NOT_APPLICABLE: "–"}
_SHADES = 4  # number of shades in a picture
_FIELD = 14  # width of a grid cell in pixels

Packed: TypeAlias = tuple[str, str]
"""The facts and the matrix of a layer, as HTML."""


def css_class(status: Status) -> str:
    """Return the CSS class of a status, which the style sheet and the script use."""
    return word(status).replace(" ", "-")


def anchor(number: int) -> str:
    """Return the id of an element inside a layer's card, so that links to it open the card."""
    return f"layer-{number}"


def card(number: int, layer: LayerResult, in_full: int, packed: dict[int, Packed] | None = None) -> Element:
    """Return one layer as a closed card with its first `in_full` failures.

    If `packed` is given, it receives the facts and the matrix of all cases, which the script then inserts.
    """
    shown = [(f"failure-{number}-{i}", case, comparison) for i, (case, comparison) in enumerate(failures(layer)[:in_full])]
    counts = layer.counts
    outcomes = dict.fromkeys([outcome(layer), *(status for found in counts.values() for status in found)])
    title = element("h4", layer.layer, " ", element("small", layer.operation))
    chips = element("ul", *(_chip(name, count) for name, count in counts.items()), class_="chips")
    about = [*_about(layer, list(counts))]
    matrix = [*_matrix(layer, list(counts), {id(comparison): name for name, _, comparison in shown})]
    if packed is not None:
        packed[number] = _html(about), _html(matrix)
        about, matrix = [], []
    return element(
        "details",
        element("summary", title, element("p", path_text(layer.path), class_="path"), chips),
        element("div", *about, class_="about", id=anchor(number)),
        *(_failure(name, case, comparison) for name, case, comparison in shown),
        *matrix,
        class_="layer",
        data_outcome=" ".join(map(css_class, outcomes)),
    )


def _html(parts: Sequence[Element]) -> str:
    return "".join(etree.tostring(part, encoding="us-ascii", method="html").decode() for part in parts)


def _chip(runtime: str, counts: Mapping[Status, int]) -> Element:
    tallies = (
        element("span", f" {mark} {counts[status]}", class_=css_class(status), title=word(status))
        for status, mark in MARKS.items()
        if counts.get(status)
    )
    outcomes = " ".join(css_class(status) for status in MARKS if counts.get(status))
    return element("li", runtime, *tallies, data_runtime=runtime, data_outcome=outcomes)


def _about(layer: LayerResult, runtimes: Sequence[str]) -> Iterator[Element]:
    if layer.problem:
        yield element("p", layer.problem, class_="problem")
    facts = {
        "types": ", ".join(f"{name} {element_type}" for name, element_type in layer.types.items()),
        "attributes": ", ".join(f"{name} {value}" for name, value in layer.attributes.items()),
        "our kernel": layer.kernel,
        "assumed": ", ".join(layer.assumptions),
        "the same as": layer.executed_as,
    }
    if any(facts.values()):
        yield fact_list(facts)
    yield from _times(layer, runtimes)


def _times(layer: LayerResult, asked: Sequence[str]) -> Iterator[Element]:
    """Yield a bar per runtime: its total time for the cases that all runtimes executed."""
    timed = [
        {comparison.runtime: comparison.seconds for comparison in case.comparisons if comparison.seconds is not None}
        for case in layer.cases
    ]
    runtimes = [name for name in asked if any(name in times for times in timed)]
    common = [times for times in timed if len(times) == len(runtimes)]
    if not runtimes or not common:
        return
    totals = {name: sum(times[name] for times in common) for name in runtimes}
    longest = max(totals.values()) or 1
    rows = (
        row(
            element("th", name, scope="row"),
            element("td", element("span", style=f"width: {total / longest:.1%}"), class_="time"),
            duration(total),
        )
        for name, total in totals.items()
    )
    caption = f"Time for {len(common)} of {len(layer.cases)} cases, each executed once: an impression, no benchmark"
    yield element("table", element("caption", caption), element("tbody", *rows), class_="times")


def _matrix(layer: LayerResult, runtimes: Sequence[str], links: Mapping[int, str]) -> Iterator[Element]:
    """Yield a table of cases (rows) and runtimes (columns), whose cells link to failures and divergences.

    `links` maps the id() of each comparison that is shown whole to the name of its section.
    """
    if not layer.cases:
        return
    rows = (
        row(
            element("th", case.name, scope="row"),
            *_cells(case, runtimes, links),
            f"{case.threads or 'any'}",
            " ".join(str(list(shape)) for shape in case.shapes),
        )
        for case in layer.cases
    )
    yield table("cases and runtimes", ("case", *runtimes, "threads", "shapes"), rows)


def _cells(case: CaseResult, runtimes: Sequence[str], links: Mapping[int, str]) -> Iterator[Element]:
    by_runtime = {comparison.runtime: comparison for comparison in case.comparisons}
    for name in runtimes:
        if name in by_runtime:
            yield _cell(by_runtime[name], links.get(id(by_runtime[name]), ""))
        else:
            yield element("td", "not asked", class_="none")


def _cell(comparison: Comparison, failure_id: str) -> Element:
    status, detail, seconds = comparison.status, comparison.detail, comparison.seconds
    what: list[Element | str] = [element("a", name, href=f"#divergence-{name}") for name in comparison.divergences]
    if status is Status.PASSED:
        what = [detail or ("" if seconds is None else duration(seconds))]
    elif status is Status.FAILED:
        what = [element("a", "failed", href=f"#{failure_id}") if failure_id else element("span", detail)]
    title = word(status) + (f": {detail}" if status is Status.EXPECTED else "")
    return element("td", f"{MARKS[status]} ", *what, class_=css_class(status), title=title)


def duration(seconds: float) -> str:
    """Return a time with a suitable unit, e.g. "12.5 ms"."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.0f} µs"


def _failure(name: str, case: CaseResult, comparison: Comparison) -> Element:
    """Return the section for one failed comparison, with `name` as the target of links."""
    heading = element("h5", comparison.runtime, element("small", f" in the case “{case.name}”"))
    where, off = comparison.difference, comparison.deviation
    body = [difference_section(where, off) if where else element("pre", comparison.detail)]
    if case.replay:
        label = "To run it again, though it passes alone:" if case.passes_again else "To run it again:"
        body += [element("p", label, class_="label"), element("pre", case.replay, class_="replay")]
    return element("section", heading, *body, class_="failure", id=name)


def difference_section(difference: Difference, deviation: Deviation | None = None) -> Element:
    """Return both values at the first difference, the number and size of differences, and a picture of their positions."""
    facts = {
        "first difference": f"output[{', '.join(map(str, difference.position))}]",
        "expected": difference.expected,
        "found": difference.found,
        "elements that differ": f"{difference.count:,} of {difference.size:,} ({difference.count / difference.size:.1%})",
        "how far off": far_off(deviation),
    }
    caption = "The output as rows, its last dimension across. The stronger the colour, the more elements differ."
    picture = element("figure", _picture(difference.picture), element("figcaption", caption))
    return element("div", fact_list(facts, "values"), picture, class_="difference")


def _picture(fields: Sequence[Sequence[float]]) -> Element:
    """Return the grid as SVG, with a single path per shade to keep it small."""
    paths = []
    for shade in range(1, _SHADES + 1):
        strokes = [
            f"M{x} {y}h1v1h-1z"
            for y, row in enumerate(fields)
            for x, share in enumerate(row)
            if share and min(_SHADES, int(share * _SHADES) + 1) == shade
        ]
        if strokes:
            paths.append(element("path", d="".join(strokes), fill_opacity=f"{0.25 + 0.75 * shade / _SHADES:.2f}"))
    columns, rows = len(fields[0]), len(fields)
    touched = sum(1 for row in fields for share in row if share)
    return element(
        "svg",
        *paths,
        viewBox=f"0 0 {columns} {rows}",
        style=f"width: {columns * _FIELD}px",
        role="img",
        aria_label=f"in {touched} of {columns * rows} fields of the output",
    )

"""One layer in the HTML report: its facts, times by runtime, failures, and the matrix of cases and runtimes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from ov_gather.crosscheck.results import CaseResult, Comparison, LayerResult, Status
from ov_gather.report.check.report import failures, outcome, word
from ov_gather.report.elements import Element, element
from ov_gather.report.page import cards
from ov_gather.report.page.difference import difference_section
from ov_gather.report.page.graph import graph
from ov_gather.report.page.skeleton import fact_list, row, table
from ov_gather.report.places import path_text

MARKS = {Status.PASSED: "✓", Status.EXPECTED: "≈", Status.FAILED: "✗", Status.NOT_APPLICABLE: "–"}


def css_class(status: Status) -> str:
    """Return the CSS class of a status, which the style sheet and the script use."""
    return word(status).replace(" ", "-")


def card(number: int, layer: LayerResult, in_full: int, packed: cards.Packed | None, *, is_open: bool) -> Element:
    """Return one layer as a card with its first `in_full` failures."""
    shown = [(f"failure-{number}-{i}", case, comparison) for i, (case, comparison) in enumerate(failures(layer)[:in_full])]
    counts = layer.counts
    title = element("h4", layer.layer, " ", element("small", layer.operation))
    chips = element("ul", *(_chip(layer, name, count) for name, count in counts.items()), class_="chips")
    content = [
        element("div", *_about(layer, list(counts)), class_="about"),
        *([graph(layer.surroundings, "What feeds this layer in its model, two steps back.")] if layer.surroundings else []),
        *(_failure(name, case, comparison) for name, case, comparison in shown),
        *_matrix(layer, list(counts), {id(comparison): name for name, _, comparison in shown}),
    ]
    facts = {
        "outcome": _outcomes([outcome(layer), *(status for found in counts.values() for status in found)]),
        "divergence": layer.divergences,
        "file": [path_text(layer.path)],
        "operation": [layer.operation],
    }
    why = [element("p", reason, class_="reason failed")] if (reason := reason_of(layer)) else []
    heading = (title, element("p", path_text(layer.path), class_="path"), *why, chips)
    return cards.card(number, heading, content, facts, None if is_open else packed, is_open=is_open)


def reason_of(layer: LayerResult) -> str:
    """Return in short why a layer failed; "" if it did not."""
    if layer.problem:
        return brief(layer.problem)
    found = (f"{comparison.runtime}, {case.name}: {comparison.detail}" for case, comparison in failures(layer))
    return brief(next(found, ""))


def brief(text: str) -> str:
    """Return the first line of a text, of at most 160 characters."""
    first = text.partition("\n")[0]
    return first if len(first) <= 160 else f"{first[:159]}…"


def _outcomes(statuses: Iterable[Status]) -> list[str]:
    """Return the outcomes by which something is found; it passed only if nothing else happened."""
    found = [css_class(status) for status in dict.fromkeys(statuses)]
    return [name for name in found if name != css_class(Status.PASSED)] or found


def _chip(layer: LayerResult, runtime: str, counts: Mapping[Status, int]) -> Element:
    tallies = (
        element("span", f" {mark} {counts[status]}", class_=css_class(status), title=word(status))
        for status, mark in MARKS.items()
        if counts.get(status)
    )
    seen = [name for comparison in layer.comparisons if comparison.runtime == runtime for name in comparison.divergences]
    facts = {"outcome": _outcomes(status for status in MARKS if counts.get(status)), "divergence": dict.fromkeys(seen)}
    return element("li", runtime, *tallies, data_runtime=cards.one_line(runtime), **cards.data(facts))


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
    """Yield a bar per runtime: the median time of the cases that all runtimes executed.

    The first case with a number of threads is left out, because the model was loaded for it: it takes up to 50 times as long.
    """
    changes = (before.threads == case.threads for before, case in pairwise(layer.cases))
    timed = [
        {comparison.runtime: comparison.seconds for comparison in case.comparisons if comparison.seconds is not None}
        for case, is_warm in zip(layer.cases[1:], changes, strict=True)
        if is_warm
    ]
    runtimes = [name for name in asked if any(name in times for times in timed)]
    common = [times for times in timed if len(times) == len(runtimes)]
    if not runtimes or not common:
        return
    medians = {name: median(times[name] for times in common) for name in runtimes}
    longest = max(medians.values()) or 1
    rows = (
        row(
            element("th", name, scope="row"),
            element("td", element("span", style=f"width: {middle / longest:.1%}"), class_="time"),
            duration(middle),
        )
        for name, middle in medians.items()
    )
    calls = f"{len(common)} call" + ("" if len(common) == 1 else "s")
    caption = f"Median of {calls}, one a case, without first calls: an impression, no benchmark"
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
    yield table(f"cases and runtimes of {layer.layer}", ("case", *runtimes, "threads", "shapes"), rows)


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

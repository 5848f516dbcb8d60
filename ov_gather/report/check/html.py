"""HTML report of `ov-gather check`.

The page is complete without its script, unless there are so many layers that the script unpacks closed ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sized
from pathlib import Path

from ov_gather.crosscheck.results import LayerResult, Status, runtimes_of
from ov_gather.divergences.base import address
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.plugin.base import explained
from ov_gather.report.check.html_layer import MARKS, brief, card, css_class
from ov_gather.report.check.html_overview import filters, overview
from ov_gather.report.check.report import CheckReport, outcome, word
from ov_gather.report.check.text import definition_lines
from ov_gather.report.elements import Element, element
from ov_gather.report.page import cards
from ov_gather.report.page.skeleton import environment_section, header, page, row, table
from ov_gather.report.places import message_text, path_text, place_text

_OUTCOMES = (Status.FAILED, Status.EXPECTED, Status.PASSED)
_TITLES = {Status.FAILED: "Failed", Status.EXPECTED: "Passed, with known divergences", Status.PASSED: "Passed"}
_MEANINGS = {
    Status.PASSED: "bit by bit what the reference says",
    Status.EXPECTED: "something else, which a known divergence explains",
    Status.FAILED: "something else that nothing explains",
    Status.NOT_APPLICABLE: "the runtime does not have this operation or type, and was not asked",
}

# Limits that keep the page small enough for a browser: pictures of failures in all (but at least one per layer), and layers
# that are open at first.
_IN_FULL = 400
_OPEN = 10
_KINDS = 3
"""How many reasons of failed layers the first sentence names, the most frequent ones."""


def render(report: CheckReport) -> str:
    """Return the page: summary, layers by outcome, models, observed divergences, findings, environment; errors come first."""
    sections = [_summary, _layers, _models, _divergences, _environment]
    sections.insert(1 if report.errors else -1, _findings)
    return page(f"ov-gather check: {word(_verdict(report))}", *(part for section in sections for part in section(report)))


def _verdict(report: CheckReport) -> Status:
    return Status.PASSED if report.passed else Status.FAILED


def _summary(report: CheckReport) -> Iterator[Element]:
    shown = Status.EXPECTED if report.passed and _has_divergences(report) else _verdict(report)
    yield header("ov-gather check", f"{MARKS[shown]} {_TITLES[shown]}", css_class(shown), *_lead(report))
    if report.layers:
        yield _bar(Counter(map(outcome, report.layers)))
    tallies = [_tally(word(status), status, report.counts[status], _MEANINGS[status]) for status in _MEANINGS]
    if without := sum(bool(layer.problem) for layer in report.layers):
        tallies.append(_tally("layers without one", Status.FAILED, without, "there was nothing to execute, or to compare with"))
    yield element("h2", "Comparisons")
    yield element("dl", *tallies, class_="tallies")


def _lead(report: CheckReport) -> Iterator[Element | str]:
    """Yield the sentence of what failed and why, with a link to the first of each kind; or that all passed."""
    layers, cases = report.layers, sum(len(layer.cases) for layer in report.layers)
    tried = f"{_number(cases, 'case')} and {_number(report.counts.total(), 'comparison')} with the reference."
    failures = [part for failure in _failures(report) for part in (*failure, "; ")][:-1]
    if failures:
        yield from (*failures, f". There were {tried}" if layers else ". ")
    if not layers:
        yield "There was no layer to check."
    elif not failures:
        yield f"{'All ' if len(layers) > 1 else ''}{_number(len(layers), 'layer')} passed, in {tried}"
    if report.stopped:
        yield f" This is partial: the check was stopped at {report.stopped}."


def _failures(report: CheckReport) -> Iterator[tuple[Element, str]]:
    """Yield each kind of failure: its number as a link to where it is shown, and the rest of the sentence."""
    if report.errors:
        yield element("a", _number(report.errors, "error"), href="#findings"), " found by the validation"
    kinds: dict[str, list[int]] = {}
    for number, layer in enumerate(report.layers):
        if not layer.passed:
            kinds.setdefault(_kind(layer), []).append(number)
    ordered = sorted(kinds.items(), key=lambda item: -len(item[1]))
    if others := sorted(number for _, numbers in ordered[_KINDS:] for number in numbers):
        ordered[_KINDS:] = [("failed for other reasons", others)]
    for kind, numbers in ordered:
        yield _count_of(numbers, report.layers, "layer", cards.anchor(numbers[0])), f" {kind}"
    if report.problems:
        yield _count_of(report.problems, report.results, "model"), f" failed as a whole: {brief(report.problems[0][1])}"
    for noun, where, compared in (("output", "of whole models", report.outputs), ("value", "between layers", report.values)):
        if wrong := [one for _, one in compared if not one.comparison.passed]:
            yield _count_of(wrong, compared, noun), f" {where} failed: {brief(wrong[0].comparison.detail)}"


def _kind(layer: LayerResult) -> str:
    """Return how a layer failed, as the predicate of a sentence."""
    if not layer.problem:
        return "gave another result than the reference"
    if layer.cases:
        return f"failed: {brief(layer.problem)}"
    return f"could not be executed: {brief(layer.problem.removeprefix('not executed: ').removeprefix('there is no case: '))}"


def _count_of(some: Sized, of: Sized, noun: str, anchor: str = "models") -> Element:
    return element("a", f"{len(some):,} of {_number(len(of), noun)}", href=f"#{anchor}")


def _has_divergences(report: CheckReport) -> bool:
    """Return True if a runtime differs in a known way, e.g. for a constant index that is out of bounds."""
    values = (value.comparison.status for _, value in (*report.outputs, *report.values))
    return any(status is Status.EXPECTED for status in (*map(outcome, report.layers), *values))


def _bar(counts: Counter[Status]) -> Element:
    parts = {status: counts[status] for status in _OUTCOMES if counts[status]}
    fields = (element("span", class_=css_class(status), style=f"flex-grow: {count}") for status, count in parts.items())
    words = (
        element("li", element("b", f"{MARKS[status]} {count:,}", class_=css_class(status)), f" {_TITLES[status].lower()}")
        for status, count in parts.items()
    )
    return element(
        "section",
        element("h2", "Layers by outcome"),
        element("div", *fields, class_="bar", aria_hidden="true"),
        element("ul", *words, class_="legend"),
    )


def _tally(name: str, status: Status, count: int, meaning: str) -> Element:
    colour = css_class(status if count else Status.NOT_APPLICABLE)
    mark = element("dt", f"{MARKS[status]} {name}", class_=colour)
    return element("div", mark, element("dd", f"{count:,}", class_="count"), element("dd", meaning))


def _layers(report: CheckReport) -> Iterator[Element]:
    if not report.layers:
        return
    layers, runtimes = report.layers, runtimes_of(report.layers)
    in_full = min(4, max(1, _IN_FULL // max(1, report.failed)))
    packed: cards.Packed | None = {} if len(layers) > cards.WITH_CONTENT else None
    numbers = {status: [number for number, layer in enumerate(layers) if outcome(layer) is status] for status in _OUTCOMES}
    opened = set(numbers[Status.FAILED][:_OPEN])
    groups = []
    for status, some in numbers.items():
        made = [card(number, layers[number], in_full, packed, is_open=number in opened) for number in some]
        if made:
            title = f"{MARKS[status]} {_TITLES[status]}"
            heading = element("h3", title, element("span", f"{len(made):,}"), class_=css_class(status))
            groups.append(element("section", heading, *made, class_="group"))
    grid = overview([number for some in numbers.values() for number in some], layers, runtimes)
    yield element(
        "section",
        element("h2", "Layers"),
        *cards.packing(packed or {}),
        filters(layers, runtimes),
        *grid,
        *groups,
    )


def _models(report: CheckReport) -> Iterator[Element]:
    """Yield the section of models, if it has any content."""
    rows = [
        row(
            path_text(path),
            output.name,
            f"{output.type}{list(output.shape)}",
            element("td", f"{output.comparison.runtime}: {output.comparison}", class_=css_class(output.comparison.status)),
        )
        for path, output in (*report.outputs, *report.values)
    ]
    failed = [_remark(path, problem, class_=css_class(Status.FAILED)) for path, problem in report.problems]
    not_run = [_remark(each.path, f"not run as a whole: {each.not_run}") for each in report.results if each.not_run]
    definitions = [element("p", line) for each in report.ir_results for line in definition_lines(each)]
    inexactness = [_remark(each.path, f"not as ONNX says: {text}") for each in report.results for text in each.inexactness]
    if rows or not_run or failed or definitions or inexactness:
        tables = [table("outputs", ("file", "output or value", "shape", "result"), rows)] if rows else []
        yield element(
            "section",
            element("h2", "Whole models"),
            *(*failed, *tables, *definitions, *not_run, *inexactness),
            class_="findings",
            id="models",
        )


def _remark(path: str, text: str, **attributes: str) -> Element:
    return element("p", f"{path_text(path)}: {text}", **attributes)


def _divergences(report: CheckReport) -> Iterator[Element]:
    if report.divergences:
        entries = (_divergence(report, name, why) for name, why in report.divergences.items())
        yield element("section", element("h2", "Known divergences seen"), element("dl", *entries, class_="divergences"))


def _divergence(report: CheckReport, name: str, why: str) -> Element:
    """Return the reason of a divergence, its counts by runtime, an example, and links to the first layers that show it."""
    seen = [comparison for layer in report.layers for comparison in layer.comparisons if name in comparison.divergences]
    by_runtime = Counter(comparison.runtime for comparison in seen)
    counts = ", ".join(f"{runtime} {count:,} times" for runtime, count in by_runtime.items())
    example = next((f"; for example: {comparison.detail}" for comparison in seen if comparison.detail), "")
    where = [number for number, layer in enumerate(report.layers) if name in layer.divergences]
    links = [_link(number, report.layers[number]) for number in where[:8]]
    more = f" and {len(where) - len(links):,} more" if len(where) > len(links) else ""
    separated = (part for i, link in enumerate(links) for part in (", " if i else "", link))
    return element(
        "div",
        element("dt", name, id=f"divergence-{name}"),
        element("dd", why),
        *_known(name),
        element("dd", f"{counts}{example}", class_="seen"),
        element("dd", "in ", *separated, more, class_="seen"),
    )


def _known(name: str) -> Iterator[Element]:
    """Yield the releases that a divergence is limited to, links to its issues, and what explains them."""
    for known in (known for known in DIVERGENCES if known.name == name):
        if known.releases:
            yield element("dd", known.releases, class_="seen")
        if known.upstream:
            links = [element("a", issue, href=address(issue)) for issue in known.upstream]
            yield element("dd", "upstream: ", *(part for link in links for part in (link, " ")), class_="seen")
        if known.reports:
            yield element("dd", ", ".join(map(explained, known.reports)), class_="seen")


def _link(number: int, layer: LayerResult) -> Element:
    return element("a", f"{Path(path_text(layer.path)).name}: {layer.layer}", href=f"#{cards.anchor(number)}")


def _findings(report: CheckReport) -> Iterator[Element]:
    rows = (
        row(
            element("td", finding.severity.value, class_=finding.severity.value),
            finding.rule,
            place_text(finding.location),
            element("td", message_text(finding), *([element("p", finding.hint)] if finding.hint else [])),
        )
        for finding in report.findings
    )
    headers = ("severity", "rule", "place", "what is wrong")
    content = table("findings", headers, rows) if report.findings else element("p", "None.")
    heading = element("h2", "Findings of the validation")
    yield element("section", heading, content, class_="findings", id="findings")


def _environment(report: CheckReport) -> Iterator[Element]:
    seed = "" if report.seed is None else f"{report.seed}"
    yield environment_section(
        {"command": report.command, "date": report.date}, report.environment, {"seed of the inputs": seed}
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")

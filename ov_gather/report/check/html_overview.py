"""The grid of layers and runtimes at the top of the HTML report, and the form that filters it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ov_gather.crosscheck.results import LayerResult, Status
from ov_gather.report.check.html_layer import MARKS, css_class, reason_of
from ov_gather.report.check.report import outcome
from ov_gather.report.elements import Element, element
from ov_gather.report.page import cards
from ov_gather.report.page.skeleton import row, table
from ov_gather.report.places import path_text

_WORST_FIRST = (Status.FAILED, Status.EXPECTED, Status.PASSED, Status.NOT_APPLICABLE)


def filters(layers: Sequence[LayerResult], runtimes: Sequence[str]) -> Element:
    """Return the form that filters layers."""
    outcomes = {
        "": "any outcome",
        css_class(Status.FAILED): "something failed",
        css_class(Status.EXPECTED): "a known divergence",
        css_class(Status.NOT_APPLICABLE): "something not applicable",
        css_class(Status.PASSED): "passed throughout",
    }
    fields = {
        "outcome": outcomes,
        "runtime": cards.options("any runtime", runtimes),
        "divergence": cards.options("any or none", _sorted(name for layer in layers for name in layer.divergences)),
        "operation": cards.options("any operation", _sorted(layer.operation for layer in layers)),
        "file": cards.options("any file", dict.fromkeys(path_text(layer.path) for layer in layers)),
    }
    return cards.filters("name, file, operation", fields)


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(set(names))


def overview(numbers: Sequence[int], layers: Sequence[LayerResult], runtimes: Sequence[str]) -> Iterator[Element]:
    """Yield the grid: a row for each layer, in this order, and a column for each runtime, coloured by the worst outcome.

    If there are several files, or failures, columns say which file, and why.
    """
    if len(layers) > 1:
        texts = {"file": [path_text(layer.path) for layer in layers], "why": [reason_of(layer) for layer in layers]}
        shown = {name: column for name, column in texts.items() if len(set(column)) > 1 or (name == "why" and column[0])}
        rows = (
            row(
                _name(number, layers[number]),
                *_cells(layers[number].counts, runtimes),
                *(element("td", column[number], class_="text") for column in shown.values()),
            )
            for number in numbers
        )
        grid = table("layers and runtimes", ("layer", *runtimes, *shown), rows)
        grid.set("class", "scroll overview")
        yield grid


def _name(number: int, layer: LayerResult) -> Element:
    status = outcome(layer)
    mark = element("span", f"{MARKS[status]} ", class_=css_class(status))
    link = element("a", layer.layer, href=f"#{cards.anchor(number)}")
    return element("th", mark, link, " ", element("small", layer.operation), scope="row")


def _cells(counts: Mapping[str, Mapping[Status, int]], runtimes: Sequence[str]) -> Iterator[Element]:
    for runtime in runtimes:
        found = counts.get(runtime, {})
        worst = next((status for status in _WORST_FIRST if found.get(status)), None)
        if worst is None:
            yield element("td")
        else:
            yield element("td", f"{MARKS[worst]} {found[worst]}", class_=css_class(worst))

"""HTML report of a bisection: the verdict, the values in and out of each guilty node, the difference, the replay command."""

from __future__ import annotations

from ov_gather.crosscheck.bisect.results import BisectResult, ComparedValue, Culprit
from ov_gather.crosscheck.deviation import far_off
from ov_gather.report.bisect.text import facts, headline, notes
from ov_gather.report.elements import Element, element
from ov_gather.report.page.difference import difference_section
from ov_gather.report.page.graph import graph
from ov_gather.report.page.skeleton import environment_section, fact_list, header, page, row, table


def render(result: BisectResult) -> str:
    """Return the page."""
    word = "Not compared" if result.not_run else "Passed" if result.passed else "Failed"
    top = header("ov-gather bisect", word, "passed" if result.passed else "failed", headline(result))
    remarks = [element("p", text) for text in notes(result)]
    return page(f"ov-gather bisect: {word.lower()}", top, *map(_culprit, result.culprits), *remarks, _environment(result))


def _culprit(culprit: Culprit) -> Element:
    body = [element("h2", culprit.node), fact_list(facts(culprit))]
    rows = [_row("in", value) for value in culprit.inputs] + [_row("out", culprit.output)]
    body.append(table("values", ("", "value", "in the reference", "type", "known by", "outcome", "how far off"), rows))
    if culprit.surroundings is not None:
        body.append(graph(culprit.surroundings, "What feeds it in the model, two steps back. Green: equal in both models."))
    if culprit.output.difference is not None:
        body.append(difference_section(culprit.output.difference, culprit.output.deviation))
    return element("section", *body, class_="culprit")


def _row(side: str, value: ComparedValue) -> Element:
    return row(side, value.name, value.other, value.type, value.how, value.outcome, far_off(value.deviation))


def _environment(result: BisectResult) -> Element:
    facts = {
        "reference": result.reference,
        "model": result.model,
        "executed by": result.setting,
        "inputs": ", ".join(f"{name} {shape}" for name, shape in result.input_shapes.items()),
        "seed of the inputs": "" if result.seed is None else str(result.seed),
        "nodes": str(result.nodes),
        "runs until the first difference": str(result.runs),
    }
    return environment_section(facts, result.environment, {})

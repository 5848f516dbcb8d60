"""Reference of the divergences of runtimes: a page for each, and a table by release of OpenVINO."""

from __future__ import annotations

import inspect
import json
from collections import defaultdict
from collections.abc import Iterator

from ov_gather.divergences.base import Divergence, address
from ov_gather.divergences.register import DIVERGENCES
from tools.docs_site.markdown import Pages, escaped, page, table
from tools.sessions import ROOT

FOLDER = "reference/divergences"
SAMPLES = ROOT / "ir_samples" / "divergent"
MEASURED = json.loads((ROOT / "tests" / "tools" / "releases" / "measured.json").read_text())
RELEASES = list(MEASURED["counts"])
RUNTIMES = {
    "openvino": "OpenVINO's CPU plugin with its own operations",
    "extension": "the CPU plugin with our operation in place of the layer",
    "onnxruntime": "onnxruntime",
}
INTRODUCTION = """
OpenVINO and onnxruntime compute some gathers differently from ONNX, or from OpenVINO's specification of the operation.
`ov-gather check` accepts such a difference only if it is in this list, and names it in its report. Every other difference is a
failure. `ov-gather explain divergences` prints the list.

What the runtime does:

- *refuses*, *crashes*, *differs*: it does so for inputs for which ONNX defines a result.
- *agrees*: it computes what ONNX says, but the specification of the operation says otherwise.
- *answers where our kernel refuses*: it returns a result for inputs that are an error.
- *does not have it*: it lacks the operation or type, and is not executed.
- *cannot happen in a check of layers*: `check` avoids it, but it can happen when a model is executed.
"""


def pages() -> Pages:
    """Return the page of each divergence, and their list."""
    made = {f"{FOLDER}/{known.name}.md": page(*_divergence(known)) for known in DIVERGENCES}
    return {f"{FOLDER}/README.md": page(*_index()), **made}


def cells(known: Divergence) -> list[str]:
    """Return how often stock OpenVINO showed a divergence, by release; in parentheses outside of `since` and `before`."""
    found = []
    for release in RELEASES:
        shown, absent = MEASURED["counts"][release].get(known.name, (0, 0))
        cell = f"{shown}/{shown + absent}" if shown + absent else ""
        is_known = known.concerns("openvino", release, known.operations[0].name if known.operations else "")
        found.append(cell if is_known or not cell else f"({cell})")
    return found


def _index() -> Iterator[str]:
    yield from ("# Divergences", *INTRODUCTION.splitlines(), "")
    by_runtimes: dict[tuple[str, ...], list[Divergence]] = defaultdict(list)
    for known in DIVERGENCES:
        by_runtimes[known.runtimes].append(known)
    for runtimes, divergences in by_runtimes.items():
        yield from (f"## {' and '.join(f'`{name}`' for name in runtimes)}", "", *_runtimes(runtimes), "")
        rows = [(f"[{known.name}]({known.name}.md)", _observed(known), escaped(known.why)) for known in divergences]
        yield from (*table(["divergence", "what the runtime does", "why"], rows), "")
    yield from ("## Releases of OpenVINO", "", "[How to read this](../../evidence/releases.md).", "")
    rows = [(f"[{known.name}]({known.name}.md)", *cells(known)) for known in DIVERGENCES]
    yield from table(["divergence", *RELEASES], [row for row in rows if any(cell[:1].isdigit() for cell in row[1:])])


def _divergence(known: Divergence) -> Iterator[str]:
    """Yield what is known of a divergence."""
    yield from (f"# {known.name}", "", f"{_sentence(known.why)}.", "")
    rows = [("runtimes", "; ".join(RUNTIMES[name] for name in known.runtimes)), ("what comes out", _outcome(known))]
    if condition := _condition(known):
        rows.append(("if", condition))
    concerned = ", ".join(operation.name for operation in known.operations) or "all of the family"
    rows += [("operations", concerned), ("devices", ", ".join(known.devices))]
    rows += [("releases", known.releases)] * bool(known.releases)
    rows += [("upstream", ", ".join(f"[{name}]({address(name)})" for name in known.upstream))] * bool(known.upstream)
    reports = [f"[{name}](../../evidence/upstream/{name}.md)" for name in known.reports]
    rows += [("reports", ", ".join(reports))] * bool(reports)
    yield from (*table(["", ""], [(f"**{name}**", escaped(text)) for name, text in rows]), "")
    if samples := sorted(SAMPLES.glob(f"{known.name}/*.xml")):
        yield from ("## Models that show it", "", f"`ov-gather check ir_samples/divergent/{known.name}` executes them.", "")
        yield from (f"- [`{path.name}`](../../../{path.relative_to(ROOT).as_posix()})" for path in samples)
        yield ""
    if any(cells(known)):
        yield from ("## Releases of OpenVINO", "", "Cases that showed it, of those that it concerns")
        yield from ("([how to read this](../../evidence/releases.md)):", "")
        yield from table(["release", "cases"], [row for row in zip(RELEASES, cells(known), strict=True) if row[1]])


def _runtimes(names: tuple[str, ...]) -> list[str]:
    return [f"- `{name}`: {RUNTIMES[name]}" for name in names]


def _observed(known: Divergence) -> str:
    return " or ".join(observation.value for observation in known.observed)


def _outcome(known: Divergence) -> str:
    """Return what the runtime does, and how exactly this is known."""
    if known.predicts is not None:
        return f"{_observed(known)}; the exact result is known, and `check` requires it bit by bit"
    if known.permits is not None:
        return f"{_observed(known)}; for each element it is known which values are possible"
    return _observed(known)


def _condition(known: Divergence) -> str:
    """Return the condition as its function describes it; "" if it has no description."""
    text = " ".join((inspect.getdoc(known.applies) or "").split("\n\n")[0].split())
    return text.removeprefix("Return True if ").removesuffix(".") if text.startswith("Return True if ") else ""


def _sentence(text: str) -> str:
    return escaped(text[:1].upper() + text[1:])

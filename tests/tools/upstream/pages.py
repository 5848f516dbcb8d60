"""Reports as pages: docs/evidence/upstream/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ov_gather.divergences.base import address
from tools.upstream.measured import Measured
from tools.upstream.registry import FAULTS, Fault
from tools.upstream.running import shows

FOLDER = Path(__file__).parents[3] / "docs/evidence/upstream"


def pages(measured: Measured) -> Mapping[str, str]:
    """Return the pages of all faults and the one that lists them, by file name."""
    made = {f"{fault.name}.md": "\n".join(_page(fault, measured)) + "\n" for fault in FAULTS.values()}
    return {**made, "README.md": "\n".join(_index(measured)) + "\n"}


def _page(fault: Fault, measured: Measured) -> Iterator[str]:
    release, output = measured.outputs[fault.name]
    yield from (f"# {fault.title}", "", "| | |", "| --- | --- |", f"| **Component** | {fault.component} |")
    yield f"| **Shown by** | {fault.package} {', '.join(measured.shown_in(fault))} |"
    if absent := [one for one, kinds in measured.of(fault).items() if not any(map(shows, kinds))]:
        yield f"| **Not shown by** | {', '.join(absent)} |"
    if fault.issues:
        yield f"| **Threads** | {', '.join(f'[{issue}]({address(issue)})' for issue in fault.issues)} |"
    yield from ("", f"**Expected.** {_sentence(fault.expected)}", "", f"**Actual.** {_sentence(fault.actual)}", "")
    yield from ("## Reproducer", "", "```python", fault.source.rstrip(), "```", "")
    yield from (f"Its output with {fault.package} {release}:", "", "```text", output, "```")
    if fault.divergences:
        yield ""
        yield f"In `ov-gather check`, this is {' and '.join(f'`{name}`' for name in fault.divergences)}."


def _index(measured: Measured) -> Iterator[str]:
    yield "# Faults of other software"
    yield ""
    yield f"{len(FAULTS)} faults, each with a reproducer that needs only the package concerned and NumPy, ready to be reported."
    yield "The releases are those that the reproducers were run with, on an x86-64 CPU with AVX-512."
    yield ""
    yield "`python tests/tools/upstream_reports.py` runs the reproducers again and makes these pages.\n"
    yield "`python tests/tools/canary.py` runs them with another release, and prints what has changed.\n"
    yield "Which of them crash random models, and how many: [What crashes OpenVINO](../proofs.md#what-crashes-openvino)."
    by_component: dict[str, list[Fault]] = {}
    for fault in FAULTS.values():
        by_component.setdefault(fault.component, []).append(fault)
    for component, faults in sorted(by_component.items()):
        yield from ("", f"## {component}", "", "| fault | what happens | shown by |", "| --- | --- | --- |")
        for fault in faults:
            yield f"| [{fault.title}]({fault.name}.md) | {_what(fault, measured)} | {_span(fault, measured)} |"


def _what(fault: Fault, measured: Measured) -> str:
    """Return what the newest release does that shows the fault."""
    kinds = measured.of(fault)[measured.outputs[fault.name][0]]
    return ", ".join("wrong result" if kind == "wrong" else kind for kind in kinds if shows(kind))


def _span(fault: Fault, measured: Measured) -> str:
    shown = list(measured.shown_in(fault))
    return shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]} ({len(shown)} of {len(measured.of(fault))})"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].removesuffix(".") + "."

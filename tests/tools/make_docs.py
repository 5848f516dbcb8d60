"""Generate rules.md and divergences.md in docs/ from the code.

python tests/tools/make_docs.py            write the pages
python tests/tools/make_docs.py --check    exit 1 and show the difference if a page is not current
python tests/tools/make_docs.py --picture  also draw docs/report.png, with the system's Chromium
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from shutil import which

from sessions import pages, refreshed

from ov_gather.divergences.base import CPU, Divergence
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.rules.base import Rule
from ov_gather.rules.register import RULES
from ov_gather.rules.selection import GROUP_LENGTH

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SAMPLES = ROOT / "ir_samples"

GROUPS = {
    "OVG0": "The document",
    "OVG1": "The graph",
    "OVG2": "Attributes",
    "OVG3": "Element types",
    "OVG4": "Shapes",
    "OVG5": "Constants and the .bin file",
    "OVG6": "Indices",
    "OVG7": "Portability",
}
WITHOUT_SAMPLE = {
    "OVG008": "There is no sample: a file in a repository can be opened.",
    "OVG099": "There is no sample: the cause is the machine, not the file.",
}
RUNTIMES = {
    "openvino": "OpenVINO's CPU plugin with its own operations",
    "extension": "the CPU plugin with our operation in place of the layer",
    "onnxruntime": "onnxruntime",
}
MEASURED = ROOT / "tests" / "tools" / "releases" / "measured.json"
SHOWN = 2  # findings per sample
MADE = "<!-- Made by `python tests/tools/make_docs.py`. Do not edit this page. -->"

RULES_INTRODUCTION = """
`ov-gather validate` checks these rules, and each finding names its rule. `ov-gather explain OVG204` prints the text of a rule
on the command line. [The page on validation](validate.md) says how to select rules and what fails a CI run.

- An **error**: OpenVINO refuses the file, or reads it as something else than it says.
- A **warning**: legal, but probably a mistake, or read differently by different programs.
- A **note**: worth knowing, and not a mistake by itself.

Each rule has a small sample in [`ir_samples/`](../ir_samples) that violates it, if a file can. Below the rule is what
`validate` finds in the sample.
"""
DIVERGENCES_INTRODUCTION = """
OpenVINO and onnxruntime compute some gathers differently from ONNX, or from OpenVINO's specification of the operation.
`ov-gather check` accepts such a difference only if it is in this list, and names it in its report. Every other difference is a
failure. `ov-gather explain divergences` prints the list on the command line.

Each divergence holds only for certain layers and values. For many, ov-gather knows the exact result of the runtime; `check`
then requires this result, bit by bit. Those of OpenVINO were measured with [eleven releases](#releases-of-openvino).

What the runtime does:

- *refuses*, *crashes*, *differs*: it does so for inputs for which ONNX defines a result.
- *agrees*: it computes what ONNX says, but the specification of the operation says otherwise.
- *answers where our kernel refuses*: it returns a result for inputs that are an error.
- *does not have it*: it lacks the operation or type, and is not executed.
- *cannot happen in a check of layers*: `check` avoids it, but it can happen when a model is executed.

If the name is a link, it leads to models that show the divergence.
"""

MATRIX_INTRODUCTION = """
`3/4` means: stock OpenVINO showed the divergence in 3 of the 4 cases that it concerns. A case does not show it if another
divergence comes first, or if memory happened to hold the right value. An empty cell had no case. Cells in parentheses are
releases outside of *since* and *before*: there, another divergence can have the same effect.

Each release executed all layers of `ir_samples/valid` and `ir_samples/divergent` in their designed cases, and generated
layers, on a CPU ({cpu}). A divergence explained every difference. `python tests/tools/release_matrix.py DIRECTORY` makes the
table, and installs the releases in the directory. Operations and types that a release lacks are not executed, and large
tensors are too large for this table.
"""


def main() -> int:
    """Write or compare the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--picture", action="store_true")
    parser.add_argument("--no-sessions", action="store_true")
    arguments = parser.parse_args()
    made = {} if arguments.no_sessions else {path: refreshed(path.read_text()) for path in pages()}
    made |= {DOCS / "rules.md": rules_page(), DOCS / "divergences.md": divergences_page()}
    if arguments.check:
        return check(made)
    for path, text in made.items():
        path.write_text(text)
    if arguments.picture:
        draw_report(DOCS / "report.png")
    return 0


def check(made: dict[Path, str]) -> int:
    """Print how the pages differ from those on disk; return the exit code."""
    code = 0
    for path, text in made.items():
        before = path.read_text() if path.exists() else ""
        if text != before:
            code = 1
            lines = difflib.unified_diff(
                before.splitlines(), text.splitlines(), str(path.relative_to(ROOT)), "current", "", "", 1
            )
            print("\n".join(lines))
            print("run: python tests/tools/make_docs.py")
    return code


def rules_page() -> str:
    """Return the page of all rules, by group, with samples."""
    findings = findings_of_samples()
    lines = [MADE, "# Rules", *RULES_INTRODUCTION.splitlines(), ""]
    for group in sorted({rule_id[:GROUP_LENGTH] for rule_id in RULES}):
        rules = sorted((rule for rule in RULES.values() if rule.id.startswith(group)), key=lambda rule: rule.id)
        lines += [f"## {GROUPS[group]} ({group}xx)", "", "| rule | severity | |", "| --- | --- | --- |"]
        lines += [f"| [{rule.id}](#{rule.id.lower()}) | {rule.severity.value} | {escape(rule.summary)} |" for rule in rules]
        lines.append("")
        for rule in rules:
            lines += rule_section(rule, findings)
    return "\n".join(lines).rstrip() + "\n"


def rule_section(rule: Rule, findings: dict[Path, list[dict[str, object]]]) -> Iterator[str]:
    """Yield the documentation of a rule, its sample, and the findings in it."""
    yield from (f"### {rule.id}", "", f"`{rule.name}`, {rule.severity.value}", "", escape(rule.documentation), "")
    if rule.id in WITHOUT_SAMPLE:
        yield from (WITHOUT_SAMPLE[rule.id], "")
        return
    path = sample_of(rule.id, findings)
    name = path.relative_to(ROOT).as_posix()
    yield from (f"Sample: [`{name}`](../{name})", "", "```text")
    found = [finding for finding in findings[path] if finding["rule"] == rule.id]
    for finding in found[:SHOWN]:
        yield f"{path.name}:{finding['line']}: {place(finding)}{finding['message']}"
        if finding["hint"]:
            yield f"    {finding['hint']}"
    yield from ("```", "")


def place(finding: dict[str, object]) -> str:
    """Return the layer and port of a finding, as `validate` writes them."""
    layer = finding["layer"]
    if not isinstance(layer, dict):
        return ""
    port = "" if finding["port"] is None else f", port {finding['port']}"
    return f"{layer['type']} '{layer['name']}' (layer {layer['id']}){port}: "


def findings_of_samples() -> dict[Path, list[dict[str, object]]]:
    """Return the findings of the command line in each invalid sample."""
    options = ("--infer", "--target", "2024.6", "--format", "json")
    command = [Path(sys.executable).with_name("ov-gather"), "validate", *options, "ir_samples"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    by_path: dict[Path, list[dict[str, object]]] = defaultdict(list)
    for finding in json.loads(done.stdout)["findings"]:
        by_path[ROOT / finding["path"]].append(finding)
    return by_path


def sample_of(rule_id: str, findings: dict[Path, list[dict[str, object]]]) -> Path:
    """Return the smallest sample that violates a rule: in the rule's own folder, or a legal one with a warning or note."""
    own = [path for path in findings if path.parent.name == rule_id]
    others = [path for path, found in findings.items() if any(finding["rule"] == rule_id for finding in found)]
    return min(own or others, key=lambda path: (path.stat().st_size, path))


def divergences_page() -> str:
    """Return the page of all divergences, by runtime."""
    lines = [MADE, "# Known divergences of runtimes", *DIVERGENCES_INTRODUCTION.splitlines(), ""]
    by_runtimes: dict[tuple[str, ...], list[Divergence]] = defaultdict(list)
    for known in DIVERGENCES:
        by_runtimes[known.runtimes].append(known)
    for runtimes, divergences in by_runtimes.items():
        names = " and ".join(f"`{name}`" for name in runtimes)
        lines += [f"## {names}", "", *(f"- `{name}`: {RUNTIMES[name]}" for name in runtimes), ""]
        lines += ["| divergence | operations | what the runtime does | why |", "| --- | --- | --- | --- |"]
        lines += [f"| {' | '.join(divergence_row(known))} |" for known in divergences]
        lines.append("")
    lines += matrix_section()
    return "\n".join(lines).rstrip() + "\n"


def matrix_section() -> Iterator[str]:
    """Yield the table of divergences by release, as measured by `release_matrix.py`."""
    measured = json.loads(MEASURED.read_text())
    releases = list(measured["counts"])
    yield from ("## Releases of OpenVINO", "")
    yield from MATRIX_INTRODUCTION.format(cpu=measured["cpu"]).strip().splitlines()
    yield from ("", f"| divergence | {' | '.join(releases)} |", f"| --- |{' --- |' * len(releases)}")
    for known in DIVERGENCES:
        cells = []
        for release in releases:
            shown, absent = measured["counts"][release].get(known.name, (0, 0))
            cell = f"{shown}/{shown + absent}" if shown + absent else ""
            is_known = known.concerns("openvino", release, *known.operations[:1] or ("",))
            cells.append(cell if is_known or not cell else f"({cell})")
        if any(cell[:1].isdigit() for cell in cells):
            yield f"| {known.name} | {' | '.join(cells)} |"
    yield ""


def divergence_row(known: Divergence) -> Iterator[str]:
    """Yield the cells of a divergence."""
    folder = SAMPLES / "divergent" / known.name
    yield f"[{known.name}](../ir_samples/divergent/{known.name})" if folder.is_dir() else known.name
    yield ", ".join(known.operations) or "all"
    observed = " or ".join(observation.value for observation in known.observed)
    releases = [f"since {known.since}"] * bool(known.since) + [f"before {known.before}"] * bool(known.before)
    devices = [f"on the device {' or '.join(known.devices)}"] * (known.devices != CPU)
    exactly = ["the exact result is known"] * (known.predicts is not None or known.permits is not None)
    yield "; ".join([observed, *devices, *releases, *exactly])
    yield escape(known.why)


def escape(text: str) -> str:
    """Escape text for Markdown: no tags, cells or emphasis."""
    for character in "<|*":
        text = text.replace(character, f"\\{character}")
    return text


def draw_report(path: Path) -> None:
    """Draw the page that `ov-gather check ir_samples/valid --report` writes."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        page_file = Path(directory) / "report.html"
        command = [Path(sys.executable).with_name("ov-gather"), "check", "ir_samples/valid", "--report", page_file]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"] * (os.geteuid() == 0))
        page = browser.new_page(viewport={"width": 1000, "height": 1000})
        page.goto(page_file.as_uri())
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())

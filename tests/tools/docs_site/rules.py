"""Reference of the rules of `validate`: a page for each, with a sample that violates it and one that is right."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ov_gather.rules.base import Rule
from ov_gather.rules.register import RULES
from ov_gather.rules.selection import GROUP_LENGTH
from tools.docs_site import right_samples
from tools.docs_site.markdown import Pages, escaped, fenced, page, table
from tools.sessions import ROOT

FOLDER = "reference/rules"
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
INTRODUCTION = """
`ov-gather validate` checks these rules, and each finding names its rule. `ov-gather explain OVG204` prints the text of a rule.

- An **error**: OpenVINO refuses the file, or reads it as something else than it says.
- A **warning**: legal, but probably a mistake, or read differently by different programs.
- A **note**: worth knowing, and not a mistake by itself.
"""
SHOWN = 2  # findings in a sample
CHANGED = 16  # most lines that differ between a sample and the right one, for the difference to be shown
AROUND = 8  # lines shown before and after a finding

Finding = dict[str, Any]


def pages() -> Pages:
    """Return the page of each rule, and their list."""
    findings = _findings()
    made = {f"{FOLDER}/{rule.id}.md": page(*_rule(rule, findings)) for rule in RULES.values()}
    return {f"{FOLDER}/README.md": page(*_index()), **made}


def _index() -> Iterator[str]:
    yield from ("# Rules", *INTRODUCTION.splitlines(), "")
    for group in sorted({rule_id[:GROUP_LENGTH] for rule_id in RULES}):
        rules = sorted((rule for rule in RULES.values() if rule.id.startswith(group)), key=lambda rule: rule.id)
        yield from (f"## {GROUPS[group]} ({group}xx)", "")
        rows = [(f"[{rule.id}]({rule.id}.md)", rule.severity.value, escaped(rule.summary)) for rule in rules]
        yield from (*table(["rule", "severity", ""], rows), "")


def _rule(rule: Rule, findings: dict[Path, list[Finding]]) -> Iterator[str]:
    """Yield the documentation of a rule, and its samples."""
    yield from (f"# {rule.id}: {rule.name}", "", f"Severity: {rule.severity.value}", "", escaped(rule.documentation), "")
    if rule.id in WITHOUT_SAMPLE:
        yield WITHOUT_SAMPLE[rule.id]
        return
    with tempfile.TemporaryDirectory() as directory:
        wrong, mended, how = _samples(rule.id, findings, Path(directory))
        found = [finding for finding in findings[wrong] if finding["rule"] == rule.id]
        yield from ("## What violates it", "", _link(wrong), "")
        yield from (*_snippet(_lines(wrong), found[0]["line"]), "", "`validate` reports", "")
        yield from (*fenced(line for finding in found[:SHOWN] for line in _finding(wrong, finding)), "")
        yield from ("## What is right", "")
        if how:
            changes = [*_difference(wrong, mended, 3), *_changed_values(wrong, mended)]
            yield from (f"{how}{':' if changes else '.'}", "", *(fenced(changes, "diff") if changes else ()))
        else:
            yield from _right(wrong, found[0])


def _samples(rule: str, findings: dict[Path, list[Finding]], folder: Path) -> tuple[Path, Path, str]:
    """Return a sample that violates a rule, and if there is one, the same as it is right, with a sentence that says so.

    The right one is in the folder: what `fix` writes, or else an edit.
    """
    violating = sorted(_violating(rule, findings), key=_distance)
    for wrong in violating:
        if how := right_samples.fixed(rule, wrong, folder):
            return wrong, folder / wrong.name, how
    for wrong in violating:
        if right_samples.edited(rule, wrong, folder):
            return wrong, folder / wrong.name, "In the right model this differs"
    return violating[0], violating[0], ""


def _right(wrong: Path, finding: Finding) -> Iterator[str]:
    """Yield what makes the sample right: how a valid one differs if it is near, or else such a layer of a valid one."""
    right = _nearest(wrong)
    if _distance(wrong) == 0:
        yield f"The document may be the same. {_link(right)} has a `.bin` that fits."
    elif _distance(wrong) <= CHANGED:
        yield from (f"{_link(right)} differs in", "", *fenced(_difference(wrong, right, 3), "diff"))
    else:
        kind = (finding["layer"] or {}).get("type", "")
        with_kind = [path for path in _valid() if any(f'type="{kind}"' in line for line in _lines(path))]
        if kind and not with_kind:
            yield escaped(finding["hint"])
            return
        right = min(with_kind or [right], key=lambda path: (len(_lines(path)), path))
        place = next((number for number, line in enumerate(_lines(right), 1) if f'type="{kind}"' in line), 1)
        yield from (escaped(finding["hint"]), "", _link(right), "", *_snippet(_lines(right), place, 0, 2 * AROUND))


@cache
def _valid() -> list[Path]:
    return sorted(SAMPLES.glob("valid/*.xml"))


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").replace("\0", "\\0").expandtabs(2).splitlines()


@cache
def _nearest(path: Path) -> Path:
    """Return the valid sample that differs in the fewest lines."""
    length = len(_lines(path))
    near = [right for right in _valid() if abs(len(_lines(right)) - length) <= CHANGED] or _valid()[:1]
    return min(near, key=lambda right: len(_difference(path, right, 0)))


@cache
def _distance(path: Path) -> int:
    """Return the number of lines that differ from the nearest valid sample."""
    return sum(not line.startswith("@@") for line in _difference(path, _nearest(path), 0))


def _difference(path: Path, right: Path, around: int) -> list[str]:
    """Return the lines that differ between two files, without the names of the files."""
    return list(difflib.unified_diff(_lines(path), _lines(right), n=around, lineterm=""))[2:]


def _changed_values(path: Path, right: Path) -> list[str]:
    """Return the constants of integers that differ between two models."""
    before, after = right_samples.values(path), right_samples.values(right)
    pairs = (pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]) if len(before) == len(after) else ()
    return [f"{sign}{line}" for pair in pairs for sign, line in zip("-+", pair, strict=True)]


def _snippet(lines: list[str], number: int, before: int = AROUND, after: int = AROUND) -> list[str]:
    """Return the lines around one, with their numbers; that line is marked."""
    if not lines:
        return fenced(lines, "xml")
    number = min(number, len(lines))
    first = max(0, number - 1 - before)
    options = (f":lineno-start: {first + 1}", f":emphasize-lines: {number - first}")
    return fenced([*options, "", *lines[first : number + after]], "{code-block} xml")


def _link(path: Path) -> str:
    name = path.relative_to(ROOT).as_posix()
    return f"[`{name}`](../../../{name})"


def _finding(path: Path, finding: Finding) -> Iterator[str]:
    """Yield a finding as `validate` writes it."""
    layer, port = finding["layer"], finding["port"]
    at_port = "" if port is None else f", port {port}"
    place = f"{layer['type']} '{layer['name']}' (layer {layer['id']}){at_port}: " if layer else ""
    yield f"{path.name}:{finding['line']}: {finding['severity']} {finding['rule']}: {place}{finding['message']}"
    if finding["hint"]:
        yield f"    {finding['hint']}"


@cache
def _findings() -> dict[Path, list[Finding]]:
    """Return the findings of the command line in each sample."""
    options = ("--infer", "--target", "2024.6", "--format", "json")
    command = [Path(sys.executable).with_name("ov-gather"), "validate", *options, "ir_samples"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    by_path: dict[Path, list[Finding]] = defaultdict(list)
    for finding in json.loads(done.stdout)["findings"]:
        by_path[ROOT / finding["path"]].append(finding)
    return by_path


def _violating(rule_id: str, findings: dict[Path, list[Finding]]) -> list[Path]:
    """Return the samples that violate a rule: those in the rule's own folder, or legal ones with a warning or note."""
    own = sorted(path for path in findings if path.parent.name == rule_id)
    return own or sorted(path for path, found in findings.items() if any(finding["rule"] == rule_id for finding in found))

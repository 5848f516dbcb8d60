"""List the operations and element types of OpenVINO's releases: python tests/tools/release_table.py DIRECTORY

Installs each release in DIRECTORY once. The rows go to ov_gather/rules/release_table.py; --check compares with it, with exit
code 1 if they differ. Prints operations missing in the newest release, and differences in attributes, which the table cannot
hold. Add a new release to tests/tools/releases/environments.py, and its operations to ov_gather/rules/opset_table.py, first.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from ov_gather.ir.element_types import ELEMENT_TYPES
from ov_gather.rules.opsets import operations
from tools.releases.environments import RELEASES, asked, installed

MODULE = Path(__file__).parents[2] / "ov_gather" / "rules" / "release_table.py"
SCRIPT = Path(__file__).parent / "releases" / "operations.py"
MOST_OF_AN_OPSET = 20  # more new operations than this are written as *


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    answers = {release: asked(installed(arguments.directory, release), SCRIPT, question()) for release in RELEASES}
    for line in surprises(answers):
        print(line)
    text = MODULE.read_text()
    before, mark, _ = text.partition('TABLE = """\n')
    made = before + mark + "\n".join(rows(answers)) + '\n"""\n'
    if arguments.check:
        print("current" if made == text else f"{MODULE.name} is not current: run without --check")
        return int(made != text)
    MODULE.write_text(made)
    return 0


def question() -> dict[str, Any]:
    """Return the query: every type in every opset, existing or not; the words of attributes; the names of element types."""
    words: dict[str, dict[str, list[str]]] = {}
    for layer_type, opsets in operations().items():
        for opset, kinds in opsets.items():
            words[f"{opset} {layer_type}"] = {name: kind.split("|") for name, kind in kinds.items() if "|" in kind}
    names = [row.name for row in ELEMENT_TYPES]
    opsets = [f"opset{number}" for number in range(1, 18)]
    return {"opsets": dict.fromkeys(opsets, sorted(operations())), "words": words, "element_types": [*names, "undefined"]}


def rows(answers: dict[str, Any]) -> Iterator[str]:
    """Yield each release with its additions to earlier ones."""
    seen: set[tuple[str, str]] = set()
    for release, answer in answers.items():
        has = set(map(tuple, answer["operations"])) | {("element_type", name) for name in answer["element_types"]}
        news, minor = has - seen, release.rpartition(".")[0]
        if not seen or not news:
            yield minor
        for kind in sorted({kind for kind, _ in news} if seen else ()):
            names = sorted(name for other, name in news if other == kind)
            row = f"{minor} {kind} {' '.join(names) if len(names) <= MOST_OF_AN_OPSET else '*'}"
            yield from textwrap.wrap(row, 126, subsequent_indent="    ")
        seen |= has


def surprises(answers: dict[str, Any]) -> Iterator[str]:
    """Yield operations that the newest release lacks, and attributes and words that differ from it."""
    newest = answers[RELEASES[-1]]
    asked_for = question()["words"]
    for release, answer in answers.items():
        for opset, layer_type in answer["operations"]:
            if [opset, layer_type] not in newest["operations"]:
                yield f"{release}: has {layer_type} in {opset}, which {RELEASES[-1]} has not"
        for key, names in answer["attributes"].items():
            if names != newest["attributes"].get(key, names):
                yield f"{release}: the attributes of {key} are {names}, and in {RELEASES[-1]} {newest['attributes'][key]}"
        for key, words in answer["words"].items():
            opset, layer_type, attribute = key.split()
            if words != asked_for[f"{opset} {layer_type}"][attribute]:
                yield f"{release}: {attribute} of {layer_type} in {opset} may only be {words}"


if __name__ == "__main__":
    sys.exit(main())

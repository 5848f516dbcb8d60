"""Measure which divergences releases of OpenVINO show: python tests/tools/release_matrix.py DIRECTORY [--sweep CASES]

Installs each release in DIRECTORY once. Each executes every layer of ir_samples/valid and ir_samples/divergent in its designed
cases, and generated layers, in worker processes. Counts go to tests/tools/releases/measured.json, from which the
reference makes its table of divergences by release. Prints which divergences a release no longer shows, or shows first, and
differences that no divergence explains; for those, the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from ov_gather.system.files import replacing
from tools.releases.changes import changed
from tools.releases.environments import RELEASES, asked, installed

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).parent / "releases" / "divergences.py"
MEASURED = Path(__file__).parent / "releases" / "measured.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--sweep", type=int, default=300, metavar="CASES")
    arguments = parser.parse_args()
    question = question_of(arguments.sweep)
    measured = {"sweep": arguments.sweep, "counts": {}, "unnamed": {}}
    before: Mapping[str, Sequence[int]] = {}
    for release in RELEASES:
        answer = asked(installed(arguments.directory, release), SCRIPT, question)
        measured["cpu"] = answer["cpu"]
        measured["counts"][release] = answer["counts"]
        measured["unnamed"][release] = sum(sum(cases.values()) for cases in answer["unnamed"].values())
        print(f"{release}: without a name: {measured['unnamed'][release]}", flush=True)
        for operation, cases in answer["unnamed"].items():
            for what, count in cases.items():
                print(f"    {operation}: {count} x {what}")
        for name, then, now in changed(before, answer["counts"]):
            print(f"    {name}: {then} -> {now}")
        before = answer["counts"]
    with replacing(MEASURED) as file:
        file.write((json.dumps(measured, indent=1, sort_keys=True) + "\n").encode())
    return int(any(measured["unnamed"].values()))


def question_of(sweep: int) -> dict[str, Any]:
    """Return what SCRIPT is asked: all samples that it can execute, and this number of generated layers."""
    paths = [path for folder in ("valid", "divergent/*") for path in sorted(ROOT.glob(f"ir_samples/{folder}/*.xml"))]
    return {"paths": list(map(str, paths)), "sweep": sweep}


if __name__ == "__main__":
    sys.exit(main())

"""Print what an OpenVINO does otherwise than the last known one: python tests/tools/canary.py [--packages DIRECTORY]

Runs all reproducers of faults, and the cases of all divergences, with the packages installed here, or with those that pip has
installed into DIRECTORY (`pip install --target DIRECTORY openvino-nightly`). Compares the outcomes with those recorded of the
newest release, on a CPU like this one if there are any: of faults by `upstream_reports.py`, of divergences by `--record`. The
exit code is 1 if something has changed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from ov_gather.divergences import cpu
from tools.release_matrix import SCRIPT, question_of
from tools.releases.changes import changed
from tools.releases.environments import asked
from tools.upstream.measured import Measured, number
from tools.upstream.registry import FAULTS
from tools.upstream.running import SKIPPED, run_all, versions

CASES = 20
"""Generated layers that the divergences are looked for in, beside the samples."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, metavar="DIRECTORY")
    parser.add_argument("--only-faults", action="store_true", help="leave out the cases of divergences")
    parser.add_argument("--record", action="store_true", help="record the divergences of this release and CPU")
    arguments = parser.parse_args()
    here, measured = versions(arguments.packages), Measured()
    print(f"OpenVINO {here['openvino']}, {cpu.model_name()}")
    rows = list(changed_faults(measured, arguments.packages, here))
    if not arguments.only_faults:
        packages = arguments.packages or Path(str(distribution("openvino").locate_file("")))
        answer = asked(packages, SCRIPT, question_of(CASES))
        rows += changed_divergences(measured, answer, here["openvino"])
        if arguments.record:
            measured.divergences.setdefault(here["openvino"], {})[cpu.model_name()] = answer["counts"]
            measured.write()
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"{len(rows)} changed" if rows else "nothing has changed")
    return int(bool(rows))


def changed_faults(measured: Measured, packages: Path | None, here: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the reproducers with another outcome than the last known one, and both. Signals are not told apart."""
    concerned = [fault for fault in FAULTS.values() if fault.package in here]
    for name, outcome in run_all(concerned, packages).items():
        package = FAULTS[name].package
        if known := measured.last_known(package, name):
            release, kind = known
            if outcome.kind not in (kind, SKIPPED) and not (outcome.kind.startswith("SIG") and kind.startswith("SIG")):
                yield name, f"{package} {release}: {kind}", f"{here[package]}: {outcome.kind}"


def changed_divergences(measured: Measured, answer: Mapping[str, Any], release: str) -> Iterator[tuple[str, str, str]]:
    """Yield the divergences that only one of this release and the newest one recorded on this CPU shows."""
    recorded = [one for one, cpus in measured.divergences.items() if cpu.model_name() in cpus]
    if not recorded:
        print("no divergences are recorded of this CPU: run this with --record and the last release")
    else:
        newest = max(recorded, key=number)
        for name, then, now in changed(measured.divergences[newest][cpu.model_name()], answer["counts"]):
            yield name, f"openvino {newest}: {then}", f"{release}: {now}"
    for operation, found in answer["unnamed"].items():
        for what, count in found.items():
            yield operation, "", f"{release}: without a divergence in {count} cases: {what}"


if __name__ == "__main__":
    sys.exit(main())

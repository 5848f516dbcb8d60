"""Compare `prove` on IRs with and without OpenVINO: python tests/tools/compare_adapters.py DIRECTORY...

The analysis reads an IR document or an `openvino.Model` through two adapters. Prints a line for each gather or scatter whose
status differs, and the counts of each status per directory. The exit code is 1 if the share of a status differs by more than
two points.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import openvino as ov

from ov_gather import prove

STATUSES = ("proved", "conditional", "unknown", "refuted")
POINTS = 2


def statuses(source: Path | ov.Model) -> dict[str, str]:
    """Return the status of each site, by its type and name."""
    return {f"{proof.type} {proof.layer}": proof.status for proof in prove(source)}


def compare(directory: Path) -> bool:
    """Print the differences in a directory; return True if the shares of all statuses nearly agree."""
    totals: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    core = ov.Core()
    for path in sorted(directory.glob("*.xml")):
        found = statuses(path), statuses(core.read_model(path))
        for total, one in zip(totals, found, strict=True):
            total.update(one.values())
        for name in sorted(found[0].keys() | found[1].keys()):
            without, with_openvino = (one.get(name, "not there") for one in found)
            if without != with_openvino:
                print(f"{path.name}: {name}: {without} without OpenVINO, {with_openvino} with it")
    shares = [[100 * total[status] / max(total.total(), 1) for status in STATUSES] for total in totals]
    for adapter, total, share in zip(("without OpenVINO", "with OpenVINO"), totals, shares, strict=True):
        counted = (f"{total[status]} {status} ({part:.1f}%)" for status, part in zip(STATUSES, share, strict=True))
        print(f"{directory} {adapter}: {', '.join(counted)}")
    return all(abs(one - other) <= POINTS for one, other in zip(*shares, strict=True))


def main() -> int:
    """Compare each directory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIRECTORY")
    agreements = [compare(directory) for directory in parser.parse_args().directories]
    return int(not all(agreements))


if __name__ == "__main__":
    sys.exit(main())

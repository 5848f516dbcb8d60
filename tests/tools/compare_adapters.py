"""Compares what `prove` knows of IRs with and without OpenVINO: python tests/tools/compare_adapters.py DIRECTORY...

The analysis sees an IR as it was read, or an `openvino.Model`, by two adapters. A line is printed for each gather or scatter
whose status differs, and for each directory how many have each status. Exit code 1 where the shares of a status differ by more
than two points.
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
    """The status of each site, by its type and its name."""
    return {f"{proof.type} {proof.layer}": proof.status for proof in prove(source)}


def compare(directory: Path) -> bool:
    """Print what differs in a directory. Whether both adapters know about the same."""
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

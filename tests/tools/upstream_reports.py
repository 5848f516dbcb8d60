"""Run the reproducers of faults and make their reports: python tests/tools/upstream_reports.py [--releases DIRECTORY] [NAME...]

Each reproducer runs in a process of its own, with the packages installed here; with DIRECTORY, those of OpenVINO run with each
release there instead, which is installed unless it is there. Results go to tests/tools/upstream/measured.json, and from there
to docs/evidence/upstream/. The exit code is 1 if a fault has not shown in any release.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from ov_gather.system.files import replacing
from tools.releases.environments import RELEASES, installed
from tools.upstream.measured import Measured
from tools.upstream.pages import FOLDER, pages
from tools.upstream.registry import FAULTS
from tools.upstream.running import run_all, versions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *FAULTS], metavar="NAME")
    parser.add_argument("--releases", type=Path, metavar="DIRECTORY")
    parser.add_argument("--release", choices=RELEASES, action="append", help="only this release of those")
    arguments = parser.parse_args()
    faults = [fault for fault in FAULTS.values() if not arguments.names or fault.name in arguments.names]
    measured = Measured()
    directory = arguments.releases
    for packages in [installed(directory, one) for one in arguments.release or RELEASES] if directory else [None]:
        here = versions(packages)
        concerned = [fault for fault in faults if fault.package in here and (packages is None or fault.package == "openvino")]
        for name, outcome in run_all(concerned, packages).items():
            measured.add(FAULTS[name], here[FAULTS[name].package], outcome)
            print(f"{FAULTS[name].package} {here[FAULTS[name].package]}: {name}: {outcome.kind}", flush=True)
        measured.write()
    if never := [name for name in FAULTS if name not in measured.outputs]:
        print(f"not shown by any release: {', '.join(never)}")
        return 1
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages(measured).items():
        with replacing(FOLDER / name) as file:
            file.write(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compare `validate --target` with the IRs that releases of OpenVINO read: python tests/tools/targets.py DIRECTORY PATH...

Installs each release in DIRECTORY once; PATHs are IRs, or directories of IRs. Each release reads the IRs that the newest one
reads. The exit code is 1 if a release refuses one for a missing operation, or crashes, without a finding; or if it reads one
with OVG708 or OVG709.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from ov_gather.ir.files import find_irs
from ov_gather.rules.findings import Severity
from ov_gather.rules.validation import validate
from tools.releases.environments import RELEASES, asked, installed
from tools.releases.operations import UNKNOWN

SCRIPT = Path(__file__).parent / "releases" / "reading.py"
RULES = ("OVG708", "OVG709")
EXTENSION = "OVG107"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("paths", type=Path, nargs="+")
    arguments = parser.parse_args()
    files = [str(path) for path in find_irs(arguments.paths).files]
    is_bad = False
    for release in reversed(RELEASES):
        refusals = dict(zip(files, asked(installed(arguments.directory, release), SCRIPT, files), strict=True))
        counts = Counter()
        for path, refusal in refusals.items():
            verdict = judged(path, release, refusal)
            counts[verdict] += 1
            if verdict.isupper():
                is_bad = True
                print(f"{release}: {verdict}: {path}: {refusal[-300:]}")
        print(f"{release}: {', '.join(f'{verdict}: {count}' for verdict, count in sorted(counts.items()))}", flush=True)
    return int(is_bad)


def judged(path: str, release: str, refusal: str) -> str:
    """Return the verdict on a file, in capitals if `validate` was wrong."""
    findings = validate(path, target=release)
    is_late = any(finding.rule in RULES for finding in findings)
    if is_late:
        return "found, and refused" if refusal else "FOUND, BUT READ"
    if not refusal:
        return "read"
    if "opset: ov_gather" in refusal:
        return "refused, and needs our extension"
    if any(finding.severity is Severity.ERROR or finding.rule == EXTENSION for finding in findings):
        return "refused, and has other errors"
    return "NOT FOUND" if refusal == "crashed" or any(text in refusal for text in UNKNOWN) else "refused for another reason"


if __name__ == "__main__":
    sys.exit(main())

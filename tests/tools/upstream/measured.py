"""What reproducers did, by package, release and CPU, and an output of each: tests/tools/upstream/measured.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ov_gather.divergences import cpu
from ov_gather.system.files import replacing
from tools.upstream.registry import Fault
from tools.upstream.running import SKIPPED, Outcome, shows

PATH = Path(__file__).parent / "measured.json"


def number(release: str) -> tuple[int, ...]:
    """Return what orders releases."""
    return tuple(map(int, re.findall(r"\d+", release)))


class Measured:
    """All results.

    Attributes:
        kinds: package -> release -> CPU -> fault -> what it did.
        divergences: release of OpenVINO -> CPU -> divergence -> in how many cases it showed, and did not.
        outputs: fault -> (release, output), of the newest release that shows it.
    """

    def __init__(self, path: Path = PATH) -> None:
        self._path = path
        stored: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"kinds": {}, "outputs": {}}
        self.kinds: dict[str, dict[str, dict[str, dict[str, str]]]] = stored["kinds"]
        self.divergences: dict[str, dict[str, dict[str, list[int]]]] = stored.get("divergences", {})
        self.outputs: dict[str, tuple[str, str]] = {name: (one[0], one[1]) for name, one in stored["outputs"].items()}

    def add(self, fault: Fault, release: str, outcome: Outcome) -> None:
        """Add what a reproducer did on this machine, if it could run."""
        if outcome.kind == SKIPPED:
            return
        of_cpu = self.kinds.setdefault(fault.package, {}).setdefault(release, {}).setdefault(cpu.model_name(), {})
        of_cpu[fault.name] = outcome.kind
        known = self.outputs.get(fault.name)
        if outcome.shows and (known is None or number(release) >= number(known[0])):
            self.outputs[fault.name] = (release, outcome.output)

    def write(self) -> None:
        with replacing(self._path) as file:
            stored = {"kinds": self.kinds, "divergences": self.divergences, "outputs": self.outputs}
            text = json.dumps(stored, indent=1, sort_keys=True)
            file.write(f"{text}\n".encode())

    def of(self, fault: Fault) -> Mapping[str, list[str]]:
        """Return what a fault did in each release, oldest first; more than once if CPUs differ."""
        found: dict[str, list[str]] = {}
        for release in sorted(self.kinds.get(fault.package, {}), key=number):
            kinds = [kinds[fault.name] for kinds in self.kinds[fault.package][release].values() if fault.name in kinds]
            if kinds:
                found[release] = sorted(set(kinds))
        return found

    def shown_in(self, fault: Fault) -> Iterator[str]:
        """Yield the releases that show a fault."""
        return (release for release, kinds in self.of(fault).items() if any(map(shows, kinds)))

    def last_known(self, package: str, name: str) -> tuple[str, str] | None:
        """Return the newest release of a package that ran a reproducer, and what it did there, on this CPU if it did."""
        found: dict[str, dict[str, str]] = {}
        for release, cpus in self.kinds.get(package, {}).items():
            if kinds := {of: kinds[name] for of, kinds in cpus.items() if name in kinds}:
                found[release] = kinds
        if not found:
            return None
        release = max(found, key=number)
        return release, found[release].get(cpu.model_name(), found[release][min(found[release])])

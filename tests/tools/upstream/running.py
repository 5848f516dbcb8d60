"""Reproducers in processes of their own, where a crash is a result like any other."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import dropwhile
from pathlib import Path

from helpers.preparing import prepared
from tools.upstream.registry import PACKAGES, Fault

RIGHT, WRONG, HANGS, SKIPPED = "right", "wrong", "does not end", "cannot run"
LIMIT = 120
"""Seconds that a reproducer may take."""
MEMORY = 32 << 30
"""Bytes of address space that it may take."""
_LIMITS = f"resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))"
LINES = 24
"""Most lines of output that a report shows."""
_OLD = """
import runpy, sys, openvino, openvino.runtime as old, openvino.runtime.op.util
vars(openvino).update({name: value for name, value in vars(old).items() if not hasattr(openvino, name)})
sys.modules |= {"openvino.op": old.op, "openvino.op.util": old.op.util}
runpy.run_path(sys.argv[1])
"""
"""Runs a reproducer with OpenVINO 2024, which has its operations in openvino.runtime."""
_ABSENT = ("ImportError", "ModuleNotFoundError", "AttributeError")
_PLACE = re.compile(r"(?<![\w.])/\S+/(?=[\w.-]+)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reproducer did: `kind` in a few words, and its output without the traceback."""

    kind: str
    output: str

    @property
    def shows(self) -> bool:
        return shows(self.kind)


def shows(kind: str) -> bool:
    """Return True if an outcome of this kind shows the fault."""
    return kind not in (RIGHT, SKIPPED)


def run(fault: Fault, packages: Path | None = None) -> Outcome:
    """Run a reproducer with the packages of a directory, or those installed."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(packages or "")}
    is_old = packages is not None and not (packages / "openvino" / "op").is_dir()
    command = prepared(_LIMITS, [sys.executable, *(["-c", _OLD] if is_old else []), fault.path])
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=LIMIT, cwd="/")
    except subprocess.TimeoutExpired:
        return Outcome(HANGS, f"no end within {LIMIT} s")
    text = _without_traceback(done.stderr)
    if done.returncode == 0:
        kind = RIGHT
    elif done.returncode < 0:
        kind = signal.Signals(-done.returncode).name
        text = f"{text}\nThe process ends with {kind}.".strip()
    else:
        name = text.partition(":")[0].rpartition(".")[2]
        kind = WRONG if name == "AssertionError" else SKIPPED if name in _ABSENT else f"raises {name}"
    return Outcome(kind, "\n".join(f"{done.stdout}{text}".strip().splitlines()[:LINES]))


def run_all(faults: Iterable[Fault], packages: Path | None = None) -> Mapping[str, Outcome]:
    """Run reproducers, two at a time."""
    faults = list(faults)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((fault.name for fault in faults), pool.map(partial(run, packages=packages), faults), strict=True))


def versions(packages: Path | None = None) -> dict[str, str]:
    """Return the versions of the packages that faults are in, e.g. {"openvino": "2026.4.1"}; without those not installed."""
    script = "import importlib.metadata as m; print(*(f'{d.name} {d.version}' for d in m.distributions()), sep='\\n')"
    environment = {**os.environ, "PYTHONPATH": str(packages or "")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd="/")
    found = dict(reversed([line.split() for line in done.stdout.splitlines()]))  # the first of a name is imported
    return {name: found[name] for name in PACKAGES if name in found}


def _without_traceback(text: str) -> str:
    """Return a text of stderr from its last error on, without directories."""
    lines = [line.rstrip() for line in text.rpartition("Traceback (most recent call last):\n")[2].splitlines() if line.strip()]
    return _PLACE.sub("", "\n".join(dropwhile(lambda line: line.startswith(" "), lines)))

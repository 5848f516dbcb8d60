"""Environments that have a release of OpenVINO each: a directory that goes before the packages of this Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RELEASES = (
    *("2024.6.0", "2025.0.0", "2025.1.0", "2025.2.0", "2025.3.0", "2025.4.1"),
    *("2026.0.0", "2026.1.0", "2026.2.0", "2026.3.1", "2026.4.1"),
)
"""The last release of each minor version that ov-gather supports."""


def installed(directory: Path, release: str) -> Path:
    """The directory of a release, where pip installs it unless it is there."""
    target = directory / release
    if not (target / "openvino").is_dir():
        print(f"installing OpenVINO {release}", file=sys.stderr, flush=True)
        packages = [f"openvino=={release}", "openvino-telemetry"]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), *packages]
        subprocess.run(command, check=True)
    return target


def asked(target: Path, script: Path, question: Any) -> Any:
    """What a script, run with the release of a directory, answers to a question; both are JSON, on stdin and stdout."""
    environment = {**os.environ, "PYTHONPATH": str(target), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, script], input=json.dumps(question), capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"{script.name} failed with OpenVINO {target.name}: {done.stderr}")
    return json.loads(done.stdout)

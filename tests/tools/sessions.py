"""Run the console sessions in README.md and docs/, and write their output into the pages.

Releases of programs and libraries are written as <version>, so that pages stay current after an update.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)
RELEASE = re.compile(r"\b\d+\.\d+\.\d+\b")
MARK = "--- command ---"


def pages() -> list[Path]:
    """Return the Markdown pages at the top of the repository and in docs/."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def refreshed(text: str) -> str:
    """Return a page with the current output of every console session."""
    return BLOCK.sub(lambda block: "".join(_run(_commands(block[0]))), text)


def _commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def _run(commands: list[str]) -> Iterator[str]:
    """Yield each command with its output; all run in one new directory that has the samples."""
    script = "".join(f"echo '{MARK}'; (exit $code)\n{command}\ncode=$?\n" for command in commands)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "ir_samples").symlink_to(ROOT / "ir_samples")
        done = subprocess.run(
            ["bash", "-c", f"code=0\n{script}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
            cwd=directory,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
        )
    outputs = done.stdout.split(f"{MARK}\n")[1:]
    for command, output in zip(commands, outputs, strict=True):
        lines = (line.rstrip() for line in RELEASE.sub("<version>", output).splitlines())
        yield "\n".join([f"$ {command}", *lines]) + "\n"

"""Runs the console sessions in README.md and docs/ and writes what they print into them.

A release of a program or a library stands in a page as <version>, so that a new release does not make the page wrong.
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
    """The pages for people, at the top of the repository and in docs/."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def refreshed(text: str) -> str:
    """The text of a page with the output of every console session as it is now."""
    return BLOCK.sub(lambda block: "".join(_run(_commands(block[0]))), text)


def _commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def _run(commands: list[str]) -> Iterator[str]:
    """Each command with its output; all commands run in one new directory that has the samples."""
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

"""Small C++ libraries and programs, compiled once for all tests and runs that need them."""

import hashlib
import shutil
import subprocess
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path

import openvino

from helpers.paths import ROOT

KEPT = ROOT / ".pytest_cache" / "d" / "compiled"
"""Where results stay between runs; `pytest --cache-clear` removes them."""


def compile_once(source: str, target: Path, *options: str) -> Path:
    """Write `target` with g++, or copy it from an earlier run with the same source, options, compiler and OpenVINO.

    Options may name files in the target's directory by relative paths; what they hold must follow from their names.
    """
    file = target.with_suffix(".cpp")
    file.write_text(source)
    command = ["g++", "-std=c++17", file.name, *options]
    kept = KEPT / hashlib.sha256("\0".join([_compiler(), openvino.__version__, *command, source]).encode()).hexdigest()
    KEPT.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)  # another process compiles the same
        if not kept.exists():
            unfinished = kept.with_suffix(".unfinished")
            done = subprocess.run([*command, "-o", unfinished], cwd=target.parent, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            unfinished.replace(kept)
    return Path(shutil.copy(kept, target))


@cache
def _compiler() -> str:
    return subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout

"""What `pip install` builds: what it takes from the build before, and what it does where it cannot compile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from helpers.paths import ROOT

pytestmark = pytest.mark.exhaustive  # each compiles; .ci/run installs with the core
NOT_COPIED = shutil.ignore_patterns("__pycache__", "_native*", "*.so*")


@pytest.fixture
def build(tmp_path):
    """A function that builds a wheel of a checkout, and returns the kernel in it, None if there is none, and the output."""
    checkout = tmp_path / "check out"
    for name in ("ov_gather", "converters", "docs"):
        shutil.copytree(ROOT / name, checkout / name, ignore=NOT_COPIED)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)

    def run(**environment: str) -> tuple[bytes | None, str]:
        wheels = tmp_path / "wheels"
        shutil.rmtree(wheels, ignore_errors=True)
        options = ["-v", "--no-index", "--no-deps", "--no-build-isolation", "-w", wheels]
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", *map(str, options), "."],
            cwd=checkout,
            env=os.environ | {"PATH": path, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        (wheel,) = wheels.iterdir()
        with ZipFile(wheel) as archive:
            kernels = [name for name in archive.namelist() if "ov_gather_kernel.so." in name]
            return archive.read(kernels[0]) if kernels else None, done.stdout

    run.checkout = checkout
    return run


def test_a_source_that_a_backup_brings_back_is_compiled_again(build):
    """Although it is older than the objects of what it replaces."""
    source = build.checkout / "ov_gather" / "native" / "kernel" / "isa.cpp"
    backup = shutil.copy2(source, build.checkout / "backup")
    source.write_text(source.read_text().replace('"baseline"', '"basement"'))
    changed, _ = build()
    assert b"basement" in changed
    shutil.copy2(backup, source)
    restored, said = build()
    assert b"basement" not in restored
    assert said.count("Building CXX object") == 1


def test_without_a_compiler_and_where_no_objects_can_be_kept(build):
    kernel, said = build(CXX="/no/compiler")
    assert kernel is None
    (line,) = (line for line in said.splitlines() if "without its compiled kernel" in line)
    assert not line.endswith(": ")
    shutil.rmtree(build.checkout / "build")
    (build.checkout / "build").touch()
    kernel, said = build()
    assert kernel
    assert "objects are not kept for the next build" in said

"""The build backend: scikit-build-core, which also installs without a compiler, and reuses what it has compiled.

Its own way to install without a compiler (`if.failed`) compiles for each question about metadata. This one answers without.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock
from scikit_build_core import build as backend
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_BUILDS = Path("build", "installed")
"""The directory in the checkout in which objects stay, so that the next installation compiles only what has changed."""


def build_wheel(folder: str, settings: Mapping[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build a wheel in a folder, and return its file name."""
    return _built(backend.build_wheel, folder, settings or {}, metadata)


def build_editable(folder: str, settings: Mapping[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build the wheel of an editable installation in a folder, and return its file name."""
    return _built(backend.build_editable, folder, settings or {}, metadata)


def _built(build: Callable[..., str], folder: str, settings: Mapping[str, Any], metadata: str | None) -> str:
    """Build; without the compiled kernel if that fails."""
    try:
        if not os.access(".", os.W_OK):
            return build(folder, settings, metadata)  # in a temporary directory
        _BUILDS.parent.mkdir(exist_ok=True)
        with FileLock(f"{_BUILDS}.lock"):
            _keep_objects_only()
            return build(folder, {"build-dir": str(_BUILDS / "{wheel_tag}"), **settings}, metadata)
    except (Exception, SystemExit):  # CMake has printed why
        print("ov-gather is installed without its compiled kernel, which failed to build: see above", file=sys.stderr)
        return build(folder, {**settings, "wheel.cmake": "false"}, None)


def _keep_objects_only() -> None:
    """Remove what CMake remembers: paths of an isolated environment that is gone, a compiler. Ninja knows which objects fit."""
    for build in _BUILDS.glob("*"):
        for name in ("CMakeCache.txt", ".skbuild-info.json"):  # with the latter, scikit-build-core would clear the objects, too
            (build / name).unlink(missing_ok=True)
        for compiler in build.glob("CMakeFiles/[0-9]*"):
            shutil.rmtree(compiler)

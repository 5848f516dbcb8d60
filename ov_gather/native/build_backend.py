"""The build backend: scikit-build-core, which also installs without a compiler, and reuses what it has compiled.

Its own way to install without a compiler (`if.failed`) compiles for each question about metadata. This one answers without.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
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
_SOURCES = Path(__file__).parent
_PATIENCE = 300
"""Seconds to wait for another build."""


def build_wheel(folder: str, settings: Mapping[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build a wheel in a folder, and return its file name."""
    return _built(backend.build_wheel, folder, settings or {}, metadata)


def build_editable(folder: str, settings: Mapping[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build the wheel of an editable installation in a folder, and return its file name."""
    return _built(backend.build_editable, folder, settings or {}, metadata)


def _built(build: Callable[..., str], folder: str, settings: Mapping[str, Any], metadata: str | None) -> str:
    """Build; without the compiled kernel if that fails."""
    try:
        with _kept() as kept:
            return build(folder, {**kept, **settings}, metadata)
    except (Exception, SystemExit) as error:
        print(f"ov-gather is installed without its compiled kernel, which failed to build: {error}", file=sys.stderr)
        return build(folder, {**settings, "wheel.cmake": "false"}, None)


@contextmanager
def _kept() -> Iterator[Mapping[str, str]]:
    """Yield the setting that names the directory of objects; none, for a temporary one, where it cannot be used."""
    lock = FileLock(f"{_BUILDS}.lock", timeout=_PATIENCE)
    try:
        _BUILDS.mkdir(parents=True, exist_ok=True)
        lock.acquire()
        _keep_objects_only()
        _touch_changed()
    except OSError as error:  # also if another build takes too long
        print(f"objects are not kept for the next build: {error}", file=sys.stderr)
        yield {}
    else:
        yield {"build-dir": str(_BUILDS / "{wheel_tag}")}
    finally:
        lock.release()


def _keep_objects_only() -> None:
    """Remove what CMake remembers: paths of an isolated environment that is gone, a compiler. Ninja knows which objects fit."""
    for build in _BUILDS.glob("*/"):
        for name in ("CMakeCache.txt", ".skbuild-info.json"):  # with the latter, scikit-build-core would clear the objects, too
            (build / name).unlink(missing_ok=True)
        for compiler in build.glob("CMakeFiles/[0-9]*"):
            shutil.rmtree(compiler)


def _touch_changed() -> None:
    """Touch the sources that have changed since the last build: Ninja goes by times, which a copy of a backup sets back."""
    known, before = _BUILDS / "sources.json", {}
    with suppress(OSError, ValueError):  # the first time, or after a crash
        before = json.loads(known.read_text())
    paths = [path for path in _SOURCES.rglob("*") if path.suffix in (".cpp", ".h", ".hpp", ".txt")]
    now = {str(path.relative_to(_SOURCES)): sha256(path.read_bytes()).hexdigest() for path in paths}
    for name in now:
        if now[name] != before.get(name):
            os.utime(_SOURCES / name)
    known.write_text(json.dumps(now))

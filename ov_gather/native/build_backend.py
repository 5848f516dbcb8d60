"""The build backend: scikit-build-core, which also installs without a compiler, and reuses what it has compiled.

Its own way to install without a compiler (`if.failed`) compiles for each question about metadata. This one answers without.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock
from scikit_build_core import build as backend
from scikit_build_core.build import *  # noqa: F403 - the hooks that stay as they are

_BUILDS = Path("build")
"""The directory in the checkout in which objects stay, so that the next installation compiles only what has changed."""


def build_wheel(folder: str, settings: Mapping[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build a wheel in a folder, and return its file name."""
    return _built(backend.build_wheel, folder, settings, metadata)


def build_editable(folder: str, settings: Mapping[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build the wheel of an editable installation in a folder, and return its file name."""
    return _built(backend.build_editable, folder, settings, metadata)


def _built(build: Callable[..., str], folder: str, settings: Mapping[str, Any] | None, metadata: str | None) -> str:
    """Build with the compiled kernel or, if that fails, without it."""
    given = dict(settings or {})
    if not os.access(".", os.W_OK):  # then objects go to a temporary directory
        return _tried(build, folder, given, metadata)
    _BUILDS.mkdir(exist_ok=True)
    with FileLock(_BUILDS / "lock"):
        return _tried(build, folder, {"build-dir": str(_BUILDS / "{wheel_tag}"), **given}, metadata)


def _tried(build: Callable[..., str], folder: str, settings: Mapping[str, Any], metadata: str | None) -> str:
    try:
        return build(folder, settings, metadata)
    except (Exception, SystemExit) as error:  # the compiler's output is printed above
        print(f"ov-gather is installed without its compiled kernel, which failed to build: {error}", file=sys.stderr)
        return build(folder, {**settings, "wheel.cmake": "false"}, metadata)

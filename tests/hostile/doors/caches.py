"""Caches of findings and of the compiled extension: damaged, shared, owned by other users, or committed with a repository.

Findings stay those of a run without a cache, and no foreign library is returned for loading.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from hostile.doors.baselines import broken

from helpers.paths import SAMPLES
from ov_gather.extension import cache as libraries
from ov_gather.rules import cache as findings
from ov_gather.rules.findings import Finding
from ov_gather.rules.selection import Chosen
from ov_gather.rules.validation import validate
from ov_gather.system import private
from ov_gather.workers.validation import ValidateOptions

TRIALS = 60
SECONDS = 30
SAMPLE = SAMPLES / "invalid" / "OVG601" / "too_large.xml"
FOREIGN = b"planted by another user"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Fill one of the caches, then damage it or give another user access."""
    (_findings, _extension)[rng.integers(2)](rng, folder)


def _findings(rng: np.random.Generator, folder: Path) -> None:
    for file in (SAMPLE, SAMPLE.with_suffix(".bin")):
        shutil.copy(file, folder)
    path, place = folder / SAMPLE.name, folder / "above" / "cache"
    expected = validate(path)
    assert expected
    _validate(place, path)
    (entry,) = place.glob("*.json")
    planted = rng.integers(3) == 0
    if planted:  # a valid entry without findings, by somebody who knows the format
        content = entry.read_bytes()[32:]
        empty = content[: content.index(b'"findings"')] + b'"findings": []}'
        entry.write_bytes(findings._digest(empty) + empty)
        _open(rng, [entry, place, place.parent])
    else:
        _damage(rng, entry)
    try:
        found = _validate(place, path)
    except private.NotPrivateError as error:
        assert "XDG_CACHE_HOME" in str(error)
        return
    assert found == expected, f"{'planted' if planted else 'damaged'}: {found}"


def _validate(place: Path, path: Path) -> list[Finding] | None:
    ((_, (found, _)),) = ValidateOptions(Chosen(), cache=findings.Cache(place)).run([path], 1, None)
    return found


def _extension(rng: np.random.Generator, folder: Path) -> None:
    openvino: Any = SimpleNamespace(release="2026.1.0", cxx11_abi="1", libraries=folder / "libs")
    openvino.libraries.mkdir()
    with (
        patch.object(libraries, "compile_extension", lambda openvino, library: library.write_bytes(b"compiled here")),
        patch.dict(os.environ, XDG_CACHE_HOME=str(folder / "caches")),
    ):
        library = libraries.library(openvino)
        folders = [library, *library.parents[:4]]  # the last is $XDG_CACHE_HOME itself
        for place in (library, library.parents[1] / library.name):
            place.write_bytes(FOREIGN)
        checksum = libraries.checksum_file(library.parents[1])
        if rng.integers(2):  # by somebody who knows the format
            checksum.write_bytes(libraries._checksum(library))
            _open(rng, folders)
        else:
            _damage(rng, checksum)
        try:
            loaded = libraries.library(openvino)
        except OSError as error:
            assert "XDG_CACHE_HOME" in str(error)
            return
    assert loaded.read_bytes() != FOREIGN, f"planted: {loaded}"


def _open(rng: np.random.Generator, places: list[Path]) -> None:
    """Let another user own, or write to, one of these places."""
    place = places[rng.integers(len(places))]
    kind = rng.integers(3 if IS_ROOT else 1)
    if kind == 0:
        place.chmod(place.stat().st_mode | (0o002, 0o022, 0o007)[rng.integers(3)])
    elif kind == 1:
        os.chown(place, 4242, -1)
    else:
        os.chown(place, -1, 4242)
        place.chmod(place.stat().st_mode | 0o020)


def _damage(rng: np.random.Generator, file: Path) -> None:
    content = file.read_bytes()
    file.unlink()
    match rng.integers(7):
        case 0:
            file.mkdir()
        case 1:
            os.mkfifo(file)
        case _:
            file.write_bytes(broken(content, rng))

"""Baselines of `validate` that are damaged, shared, foreign or linked: an error, or correct findings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np

from helpers.paths import SAMPLES
from ov_gather import validate
from ov_gather.cli import run_command
from ov_gather.rules.baseline import read_baseline, write_baseline

TRIALS = 150
SECONDS = 60
SOURCES = [path for path in sorted((SAMPLES / "invalid").rglob("*.xml")) if path.stat().st_size < 20_000]


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Make one attack, of three kinds."""
    for number, source in enumerate(rng.choice(np.array(SOURCES, object), 3, replace=False)):
        shutil.copy(source, folder / f"{number}.xml")
        if source.with_suffix(".bin").exists():
            shutil.copy(source.with_suffix(".bin"), folder / f"{number}.bin")
    ATTACKS[rng.integers(len(ATTACKS))](rng, folder)


def _models(folder: Path) -> list[Path]:
    return sorted(folder.glob("?.xml"))


def _run(*words: object) -> CompletedProcess[str]:
    output, errors, code = StringIO(), StringIO(), 0
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            run_command([*map(str, words)])
        except SystemExit as end:
            code = int(end.code or 0)
    done = CompletedProcess(words, code, output.getvalue(), errors.getvalue())
    assert code in (0, 1, 2), done
    for text in ("Traceback", "OpenVINO:", "fault of ov-gather"):
        assert text not in done.stderr + done.stdout, done
    assert code < 2 or len(done.stderr.strip().splitlines()[-1]) < 2000, "an error is a line, and not the file"
    return done


def _damaged(rng: np.random.Generator, folder: Path) -> None:
    """Change bytes or values of a baseline: an error and no file changed, or no finding suppressed that it does not hold."""
    baseline = folder / "baseline.json"
    right = _run("validate", *_models(folder), "--fail-on", "warning")
    assert _run("validate", *_models(folder), "--baseline", baseline, "--write-baseline").returncode == 0
    original = baseline.read_bytes()
    edited = json.dumps(_with_another_value(json.loads(original), rng)).encode()
    content = broken(original, rng) if rng.integers(5) else edited
    baseline.write_bytes(content)
    done = _run("validate", *_models(folder), "--baseline", baseline, "--fail-on", "warning")
    known = content.decode(errors="replace")
    if done.returncode == 0 and right.returncode == 1:
        worst = [finding for path in _models(folder) for finding in validate(path) if finding.severity.value != "note"]
        assert all(finding.fingerprint in known for finding in worst), "a finding is suppressed that the baseline does not hold"
    assert baseline.read_bytes() == content
    written = _run("validate", *_models(folder), "--baseline", baseline, "--write-baseline")
    assert (written.returncode == 2) == (baseline.read_bytes() == content and done.returncode == 2), (written, done)
    if written.returncode == 0:
        assert _run("validate", *_models(folder), "--baseline", baseline, "--fail-on", "warning").returncode == 0


def broken(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut a file, flip bits of it, or replace it by something nested, odd or random, maybe behind its first bytes."""
    start = int(rng.integers(len(content)))
    match rng.integers(5):
        case 0:
            return content[:start]
        case 1:
            nested = rng.choice([b"[", b'{"a":', b'{"format":1,"findings":[[']) * int(rng.choice([10, 990, 100_000]))
            return content[: int(rng.choice([0, 32]))] + bytes(nested)
        case 2:
            text = bytearray(content)
            for _ in range(rng.integers(1, 4)):
                text[int(rng.integers(len(text)))] ^= 1 << int(rng.integers(8))
            return bytes(text)
        case 3:
            return rng.bytes(1000)
    odd = (b"", b"null", b"\xff\xfe", b"NaN", b"9" * 5000, b"[" + content + b"]", b"\xef\xbb\xbf" + content)
    return odd[rng.integers(len(odd))]


def _with_another_value(document: Any, rng: np.random.Generator) -> Any:
    """Replace one value at a random depth."""
    if isinstance(document, (dict, list)) and document and rng.random() < 0.85:
        key = list(document)[rng.integers(len(document))] if isinstance(document, dict) else int(rng.integers(len(document)))
        document[key] = _with_another_value(document[key], rng)
        return document
    odd = [None, [], {}, 0, -1, 1e308, 10**40, True, "", "\0", "\ud800", "x" * 3000, "../" * 2000, "http://[", [[[]]]]
    return odd[rng.integers(len(odd))]


def _shared(rng: np.random.Generator, folder: Path) -> None:
    """Write concurrently to one baseline: it must hold every finding of every file afterwards."""
    baseline = folder / "baseline.json"
    found = {path: validate(path) for path in _models(folder)}

    def write(path: Path) -> None:
        for _ in range(int(rng.integers(1, 4))):
            write_baseline(baseline, [str(path)], found[path])

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, found))
    kept = read_baseline(baseline)
    assert all(kept.holds(finding) for findings in found.values() for finding in findings), "entries were lost"
    assert not list(folder.glob(".*")), "something was left behind"


def _foreign(rng: np.random.Generator, folder: Path) -> None:
    """Write a baseline to a model, a .bin, a report, a directory or a link: existing files must not change."""
    place = folder / "baseline.json"
    target = folder / str(rng.choice(["0.xml", "1.bin", "none", "baseline.json", "loop", "there/baseline.json", "."]))
    if rng.random() < 0.5:
        place.symlink_to(target)
        if target.name == "loop":
            target.symlink_to("baseline.json")
    elif target.is_file():
        place.hardlink_to(target)
    else:
        place.write_bytes(rng.choice([b"{}", b"notes", b'{"generator": "ov-gather", "findings": []}', b""]))
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    done = _run("validate", *_models(folder), "--baseline", place, "--write-baseline", *(["--force"] * int(rng.integers(2))))
    assert {file: file.read_bytes() for file in before} == before
    assert done.returncode == (0 if place.is_file() and place not in before else 2), done


ATTACKS: tuple[Callable[[np.random.Generator, Path], None], ...] = (_damaged, _damaged, _shared, _foreign)

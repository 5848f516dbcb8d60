"""`read_ir` and `validate` on documents with random edits of bytes: an IRError or findings, and no other exception."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from helpers.paths import SAMPLES
from ov_gather import IRError, read_ir, validate

TRIALS = 60
SECONDS = 30
SOURCES = sorted((SAMPLES / "valid").glob("*.xml"))


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Replace, remove or repeat random slices of a valid document."""
    source = SOURCES[rng.integers(len(SOURCES))]
    text = bytearray(source.read_bytes())
    for _ in range(rng.integers(1, 6)):
        start = int(rng.integers(len(text)))
        end = start + int(rng.integers(1, 40))
        match rng.integers(4):
            case 0:
                text[start:end] = rng.bytes(end - start)
            case 1:
                del text[start:end]
            case 2:
                text[start:start] = text[start:end]
            case 3:
                text[start : start + 1] = rng.choice([b"-", b"9" * 19, b"0x1", b"&#27;", b'"', b"<", b"e308"])
    path = folder / "attacked.xml"
    path.write_bytes(text)
    if (weights := source.with_suffix(".bin")).exists():
        path.with_suffix(".bin").write_bytes(weights.read_bytes()[: int(rng.integers(0, 10_000))])
    with suppress(IRError):
        read_ir(path)
    validate(path)

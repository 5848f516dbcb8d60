"""`read_ir` and `validate` on documents with random edits: an IRError or findings, and no other exception.

Half of the edits change bytes, and mostly destroy the XML; the others keep the document well-formed.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import numpy as np

from helpers.paths import SAMPLES
from ov_gather import IRError, read_ir, validate
from ov_gather.ir.constants import constant

TRIALS = 60
SECONDS = 30
SOURCES = sorted((SAMPLES / "valid").glob("*.xml"))

TEXTS = (
    *("", "-1", "0", "?", "...", "1,2", "0x1", "1e308", "nan", "true", "then_body", "&#9;", "&lt;", "a&#13;b", "[1,?,2..]"),
    *("9" * 19, "9" * 400, "-9223372036854775808", "18446744073709551616", "\N{SUPERSCRIPT TWO}"),
    *("f32", "i4", "string", "Const", "opset1"),
)
"""Replacements for an attribute or a text."""
VALUE = re.compile(rb'(?<==")[^"<>]*(?=")|(?<=>)[^<>\s]+(?=</)')
ELEMENT = re.compile(rb"<(port|dim|layer|edge|data)\b[^<>]*/>|<(port|dim|layer|edges|layers|input|output)\b.*?</\2>", re.DOTALL)


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Edit a valid document, and cut its .bin."""
    source = SOURCES[rng.integers(len(SOURCES))]
    edit = _with_bytes if rng.integers(2) else _with_values
    text = source.read_bytes()
    for _ in range(rng.integers(1, 6)):
        text = edit(rng, text)
    path = folder / "attacked.xml"
    path.write_bytes(text)
    if (weights := source.with_suffix(".bin")).exists():
        path.with_suffix(".bin").write_bytes(weights.read_bytes()[: int(rng.integers(0, 10_000))])
    with suppress(IRError):
        model = read_ir(path)
        for const in model.of_type("Const"):
            with suppress(IRError):
                constant(model, const)
    validate(path)


def _with_bytes(rng: np.random.Generator, text: bytes) -> bytes:
    """Replace, remove or repeat a slice."""
    start = int(rng.integers(max(len(text), 1)))
    end = start + int(rng.integers(1, 40))
    piece = (rng.bytes(end - start), b"", 2 * text[start:end], rng.choice([b"-", b"9" * 19, b"&#27;", b'"', b"<"]))
    return text[:start] + piece[rng.integers(4)] + text[end:]


def _with_values(rng: np.random.Generator, text: bytes) -> bytes:
    """Replace an attribute or a text by another one, or remove, repeat or move an element."""
    values, elements = list(VALUE.finditer(text)), list(ELEMENT.finditer(text))
    if not elements or not values:
        return text
    if rng.integers(4):
        found, other = (values[i] for i in rng.integers(len(values), size=2))
        new = other[0] if rng.integers(2) else str(rng.choice(TEXTS)).encode()
        return text[: found.start()] + new + text[found.end() :]
    found, other = (elements[i] for i in rng.integers(len(elements), size=2))
    new = (b"", 2 * found[0], other[0])[rng.integers(3)]
    return text[: found.start()] + new + text[found.end() :]

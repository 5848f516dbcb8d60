"""`validate --infer` on IRs with one attribute at a limit: findings, and no crash that only OpenVINO shows.

A model that ends the process when OpenVINO reads or compiles it must have a finding of a rule that needs no runtime.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import openvino as ov

from helpers.paths import SAMPLES
from helpers.written_models import MODELS, model_of
from ov_gather import validate
from ov_gather.rules.findings import Severity
from ov_gather.runtimes.isolated import borrowed
from ov_gather.system.worker import CrashedError

TRIALS = 60
SECONDS = 60
SAMPLE_FILES = sorted((SAMPLES / "valid").glob("*.xml"))
LIMITS = ("0", "-1", "1", "7", "2147483647", "-2147483648", "4294967296", "9223372036854775807", "-9223372036854775808")
ATTRIBUTES = re.compile(r"<(?:data|input|output) [^<>]*>")
NUMBER = re.compile(r'(?<=[ ,"])-?\d+(?=[",])')
ELSEWHERE = ("offset", "size", "external_port_id", "internal_layer_id")
"""Attributes that other rules check: ids, and places in the .bin."""


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Set one number of an attribute to a limit."""
    path = folder / "attacked.xml"
    _write(rng, path)
    text = path.read_text()
    numbers = [
        (tag.start() + place.start(), tag.start() + place.end())
        for tag in ATTRIBUTES.finditer(text)
        for place in NUMBER.finditer(tag[0])
        if re.split(r'[ "=]+', tag[0][: place.start()].rpartition('="')[0])[-1] not in ELSEWHERE
    ]
    if not numbers:
        return
    start, end = numbers[rng.integers(len(numbers))]
    value = str(rng.choice(LIMITS))
    path.write_text(text[:start] + value + text[end:])
    findings = validate(path, infer=True)
    if any(finding.severity is Severity.ERROR and finding.rule != "OVG407" for finding in findings):
        return
    tag = text[text.rindex("<", 0, start) : end]
    assert not any("crashes" in finding.message for finding in findings), f"{value} for the last number of {tag}: {findings}"
    if any(finding.rule in ("OVG407", "OVG711") for finding in findings):
        return
    with borrowed(["openvino"]) as (runtime,):
        try:
            with runtime:
                runtime.activate(path, 1)
        except CrashedError as crash:
            raise AssertionError(f"{value} for the last number of {tag}: OpenVINO {crash}; findings: {findings}") from None
        except RuntimeError:
            return


def _write(rng: np.random.Generator, path: Path) -> None:
    """Write a sample, or a model of OpenVINO's."""
    number = int(rng.integers(len(SAMPLE_FILES) + 4 * len(MODELS)))
    if number >= len(SAMPLE_FILES):
        ov.serialize(model_of(MODELS[number % len(MODELS)]), path)
        return
    source = SAMPLE_FILES[number]
    path.write_text(source.read_text())
    if (weights := source.with_suffix(".bin")).exists():
        path.with_suffix(".bin").write_bytes(weights.read_bytes())

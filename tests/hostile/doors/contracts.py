"""`validate` on calls of operators with hostile attributes, types, shapes and constants: findings, and no exception.

Shapes of Parameters and Consts are attributes, whose sizes no reader limits as it limits the dims of ports.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from lxml import etree

from helpers.operator_faults import ir_of
from helpers.operator_samples import samples
from ov_gather import validate

TRIALS = 2000
SECONDS = 30
SAMPLES = list(samples())
NAMES = sorted({name for sample in SAMPLES for name in sample.attributes})
NUMBERS = (*map(str, (0, 1, 2, 3, 4, 1000, 2**31, 2**62, 2**63 - 1, -1, -2, -4, -(2**31), 1 - 2**63)), "9" * 19, "-" + "9" * 19)
TEXTS = (
    *("", "-", ",", "1,,2", " 1", "1.5", "nan", "NaN", "inf", "-inf", "1e400", "-1e400", "1e-400", "true", "9" * 1000),
    *("numpy", "pdpd", "none", "explicit", "valid", "same_upper", "bidirectional", "f32", "i64", "dynamic", "sizes", "mask"),
    *("1," * 300 + "1", "->", "...->", "a...,a->a", "abc,cb->abca", "\N{SUPERSCRIPT TWO}", "tanh,tanh,tanh", "\N{KELVIN SIGN}"),
)
DIMENSIONS = (*map(str, (0, 1, 2, 3, 4, 2**62, 2**63 - 1)), "?", "1..5", "2..", f"..{2**63 - 1}", f"{2**63}", "x")
KINDS = ("f32", "i64", "i32", "u64", "i4", "boolean", "string", "dynamic", "x")
ELEMENTS = np.array((0, 1, -1, 2, 3, 1000, 2**31, 2**62, 2**63 - 1, -(2**62), -(2**63), 0x7FC00000_7F800000), np.int64)


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Edit a valid call, and the elements of its constants."""
    sample = SAMPLES[rng.integers(len(SAMPLES))]
    if not rng.integers(4):
        places = rng.integers(len(sample.inputs), size=rng.integers(1, len(sample.inputs) + 2))
        sample = replace(sample, inputs=tuple(sample.inputs[place] for place in places))
    kinds = [(str(rng.choice(KINDS[:4])), tuple(rng.integers(0, 4, rng.integers(4)).tolist())) for _ in range(sample.outputs)]
    xml, weights = ir_of(sample, kinds)
    net = etree.fromstring(xml)
    for _ in range(rng.integers(1, 5)):
        _edit(rng, net.findall("layers/layer/data"))
    if rng.integers(2):
        weights = rng.choice(ELEMENTS, len(weights) // 8 + 1).tobytes()[: len(weights) - int(rng.integers(8) == 0)]
    validate(etree.tostring(net), weights=weights)


def _edit(rng: np.random.Generator, attributes: list[etree._Element]) -> None:
    """Replace an attribute of a layer, or add one that other operators have."""
    data = attributes[rng.integers(len(attributes))]
    name = str(rng.choice(list(data.keys()) if rng.integers(8) else NAMES))
    if name == "shape":
        text = ",".join(rng.choice(DIMENSIONS, rng.integers(6))) if rng.integers(8) else "..."
    elif name == "element_type":
        text = str(rng.choice(KINDS))
    else:
        numbers = rng.choice(NUMBERS, rng.integers(1, 5) if "," in data.get(name, "") or not rng.integers(4) else 1)
        text = ",".join(numbers) if rng.integers(2) else str(rng.choice(TEXTS))
    data.set(name, text)

"""Contracts of operators, given sizes, elements and attributes that no model has."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.operator_faults import ir_of
from helpers.operator_samples import Given, samples
from ov_gather import validate
from ov_gather.ir.element_types import ELEMENT_TYPES, by_name
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.contracts.call import Call, ContractError, UnjudgedError
from ov_gather.ops.contracts.register import CONTRACTS

SAMPLES = list(samples())
SIZES = (0, 1, 2, 3, 2**62, 2**63 - 1)
ELEMENTS = (0, 1, -1, 2, -2, 5, 100, -(2**63), 2**63 - 1, 2**64 - 1)
TEXTS = ("", "0", "-1", "2", "100", "1,1", "0,1,1", ",", "x", "nan", "1e400", "9" * 40, str(2**63 - 1), "1000000000000")


def _shape(rng, sizes):
    if rng.random() < 0.1:
        return UNKNOWN
    kept = sizes[: len(sizes) - int(rng.random() < 0.1)]
    dims = [Dimension(size, size) if rng.random() < 0.7 else ANY for size in kept]
    dims += [Dimension(size, size) for size in rng.choice(SIZES, rng.choice([0, 0, 0, 0, 1])).tolist()]
    return PartialShape(tuple(Dimension(int(rng.choice(SIZES))) if rng.random() < 0.1 else dim for dim in dims))


def _call(rng, sample):
    """Return the call of a sample with some of its attributes, types, shapes and elements exchanged."""
    attributes = {name: str(rng.choice(TEXTS)) if rng.random() < 0.1 else text for name, text in sample.attributes.items()}
    kinds, shapes, elements = [], [], []
    for given in sample.inputs[: rng.integers(len(sample.inputs) + 1) if rng.random() < 0.1 else None]:
        kinds.append(by_name(given.kind) if rng.random() < 0.9 else ELEMENT_TYPES[rng.integers(len(ELEMENT_TYPES))])
        if given.elements is None or rng.random() < 0.2:
            shapes.append(_shape(rng, given.shape))
            elements.append(None)
        else:
            count = rng.integers(4) if len(given.shape) == 1 and rng.random() < 0.1 else len(given.elements)
            others = [ELEMENTS[rng.integers(len(ELEMENTS))] for _ in range(count)]
            elements.append(tuple(others if rng.random() < 0.3 or count != len(given.elements) else given.elements))
            shapes.append(PartialShape.of((count,) if len(given.shape) == 1 else given.shape))
    return Call(sample.type, sample.opset, attributes, kinds, shapes, elements.__getitem__, int(rng.integers(4)))


@pytest.mark.parametrize("seed", range(4))
def test_random_calls(seed):
    rng = np.random.default_rng(seed)
    for number in rng.integers(len(SAMPLES), size=2000):
        call = _call(rng, SAMPLES[number])
        try:
            outputs = CONTRACTS[call.type].outputs(call)
        except (ContractError, UnjudgedError, IndexError):
            continue
        assert sum(shape.rank or 0 for _, shape in outputs) < 10_000


@pytest.mark.parametrize("name", ["Reshape", "StridedSlice", "Tile", "Transpose", "Broadcast", "Slice"])
def test_lists_longer_than_memory(name):
    sample = next(one for one in SAMPLES if one.type == name)
    long = Given("i64", (2**63 - 1,))
    xml, weights = ir_of(replace(sample, inputs=(sample.inputs[0], *(long for _ in sample.inputs[1:]))), [("f32", (-1, -1))])
    validate(xml, weights=weights)


def test_more_parts_than_memory():
    sample = next(one for one in SAMPLES if one.type == "Split")
    inputs = Given("f32", (2, 2**63 - 1)), sample.inputs[1]
    split = replace(sample, attributes={"num_splits": str(2**63 - 1)}, inputs=inputs)
    xml, weights = ir_of(split, [("f32", (2, 1))] * 2)
    assert [finding.rule for finding in validate(xml, weights=weights, select=["OVG104", "OVG204", "OVG403"])] == []

"""Contracts of operators, given lists that no memory holds; `doors/contracts.py` tries whatever else no model has."""

from dataclasses import replace

import pytest

from helpers.operator_faults import ir_of
from helpers.operator_samples import Given, samples
from ov_gather import validate

SAMPLES = list(samples())
TEXTS = ("", "1", "1,1", "1,1,1", "1,1,1,1,1", "0", "-1", "x", "5")
SHAPES = ((), (0,), (1,), (2,), (3,), (2, 3), (1, 1, 1), (1, 2, 3, 4), (1, 2, 3, 4, 5))


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


def _others(sample):
    """Yield the call with fewer inputs, with other attributes or without one, and with inputs of other shapes."""
    yield from (replace(sample, inputs=sample.inputs[:count]) for count in range(len(sample.inputs)))
    for name in sample.attributes:
        yield from (replace(sample, attributes={**sample.attributes, name: text}) for text in TEXTS)
        yield replace(sample, attributes={other: text for other, text in sample.attributes.items() if other != name})
    for port, given in enumerate(sample.inputs):
        for shape in SHAPES:
            elements = None if given.elements is None or len(shape) > 1 else tuple(map(float, range(shape[0] if shape else 1)))
            inputs = (*sample.inputs[:port], Given(given.kind, shape, elements), *sample.inputs[port + 1 :])
            yield replace(sample, inputs=inputs)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_no_call_is_an_error_of_ours(sample):
    for other in _others(sample):
        for outputs in range(4):
            xml, weights = ir_of(other, [("f32", (2,))] * outputs)
            validate(xml, weights=weights)

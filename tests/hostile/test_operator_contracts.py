"""Contracts of operators, given lists that no memory holds; `doors/contracts.py` tries whatever else no model has."""

from dataclasses import replace

import pytest

from helpers.operator_faults import ir_of
from helpers.operator_samples import Given, samples
from ov_gather import validate

SAMPLES = list(samples())


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

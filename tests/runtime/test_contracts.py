"""What `validate` says of each operator of OpenVINO, compared with what OpenVINO does with single changes of valid calls."""

import re

import pytest

from helpers.operator_faults import LENIENT, UNFOUND, outcomes
from helpers.operator_samples import samples
from ov_gather.ops.contracts.register import CONTRACTS


def is_named(table, sample, what):
    return any(re.fullmatch(pattern, f"{sample.type}: {what}") for pattern in table)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("sample", samples(), ids=str)
def test_single_changes(sample):
    """What OpenVINO refuses is reported, and what it computes is not, but for what the specification forbids all the same."""
    valid, *changes = outcomes(sample)
    assert valid == ("", "ok", [])
    assert not [what for what, done, errors in changes if done != "ok" and not errors and not is_named(UNFOUND, sample, what)]
    false = [
        (what, errors) for what, done, errors in changes if done == "ok" and errors and not is_named(LENIENT, sample, what)
    ]
    assert not false


def test_every_contract_has_a_sample():
    sampled = {sample.type for sample in samples()}
    assert CONTRACTS.keys() - sampled <= {"Relu"}  # an older name of ReLU

"""What `validate` says of models with bodies, states and sequences, compared with OpenVINO and NumPy, change by change."""

import re

import pytest

from helpers.body_faults import UNFOUND, outcomes
from helpers.body_models import MODELS

PARTS = 12


@pytest.mark.sampled(len(MODELS))
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", MODELS)
def test_single_changes(name, part):
    """What OpenVINO refuses, dies of or computes otherwise than NumPy is found; what both compute alike is not."""
    found = list(outcomes(name, part, PARTS))
    unfound = [one.what for one in found if (one.is_refused or one.is_other) and not one.findings and not is_named(one)]
    false = [(one.what, one.errors) for one in found if one.is_right and one.errors]
    assert (unfound, false) == ([], [])


def is_named(outcome):
    return any(re.fullmatch(pattern, outcome.what) for pattern in UNFOUND)

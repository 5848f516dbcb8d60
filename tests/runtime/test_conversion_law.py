"""The law over idioms that OpenVINO computes wrongly, with layers that change nothing between their halves.

The facts of the book are met if and only if OpenVINO is wrong; what comes out is within the bounds that range analysis claims;
and a converted model is right, or its report names the operator.
"""

import pytest

from helpers.idioms import balanced
from helpers.law import EXCEPTIONS, Kind, judge

pytestmark = pytest.mark.onnxruntime


def holds(form):
    verdicts = judge(form)
    if verdicts[0].kind is Kind.NO_MODEL:
        pytest.skip(f"no model: {verdicts[0].text[:80]}")
    assert [f"{one.kind.value}: {one.text}" for one in verdicts if one.kind in EXCEPTIONS] == []


@pytest.mark.sampled(360)
@pytest.mark.parametrize("form", balanced(1), ids=str)
def test_the_law_holds(form):
    holds(form)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", balanced(6)[len(balanced(1)) :], ids=str)
def test_the_law_holds_in_other_places(form):
    holds(form)

"""The law of conversion, over idioms that OpenVINO computes wrongly, and layers that change nothing between their halves."""

import pytest

from helpers.idioms import balanced
from helpers.law import EXCEPTIONS, Kind, judge

pytestmark = pytest.mark.onnxruntime


def holds(form):
    verdict = judge(form)
    if verdict.kind is Kind.NO_MODEL:
        pytest.skip(f"no model: {verdict.text[:80]}")
    assert verdict.kind not in EXCEPTIONS, verdict.text


@pytest.mark.parametrize("form", balanced(1), ids=str)
def test_a_converted_model_is_right_or_reported(form):
    holds(form)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", balanced(6)[len(balanced(1)) :], ids=str)
def test_a_converted_model_is_right_or_reported_in_other_places(form):
    holds(form)

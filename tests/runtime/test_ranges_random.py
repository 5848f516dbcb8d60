"""The analysis of ranges on random models; `python tests/tools/fuzz_ranges.py` tries any number of them."""

from functools import partial

import pytest

from helpers.faulty_models import MODELS, faulty
from helpers.range_analysis import off_by_one
from helpers.range_judge import ALONE
from helpers.range_judgements import confirmed, judgements, totals
from helpers.range_subjects import judge, judge_onnx
from helpers.seeds import enough, seeds


@pytest.mark.exhaustive
def test_nothing_is_observed_that_was_excluded():
    found = list(confirmed(seeds(50), judge))
    assert [(one.seed, violation) for one in found for violation in one.violations] == []
    counts = totals(found)
    assert counts["tensors compared"] > enough(10_000)
    assert counts["verdicts compared"] > enough(600)
    for adapter in ("IR", "openvino.Model"):
        assert counts[f"sites proved, {adapter}"] > enough(100)
        assert counts[f"sites conditional, {adapter}"] > enough(15)
    assert counts["bounds with a witness"] > max(enough(20), counts["bounds without a witness"])


def test_faults_of_openvino_are_no_violations():
    found = list(judgements(range(0, len(MODELS) * ALONE, ALONE), partial(judge, make=faulty)))
    assert [(one.seed, violation) for one in found for violation in one.violations] == []
    assert found[0].counts["tensors that need not be the same in each inference"] > 0
    assert all(found[number].counts["trials whose shapes do not fit"] > 0 for number in (1, 2))
    assert found[3].counts["shapes that OpenVINO itself infers wrongly"] > 0
    assert found[4].counts["sites of data whose sizes need not be the same in each inference"] > 0


@pytest.mark.exhaustive
@pytest.mark.onnxruntime
def test_nothing_is_observed_of_onnx_that_was_excluded():
    found = list(confirmed(seeds(60), judge_onnx))
    assert [(one.seed, violation) for one in found for violation in one.violations] == []
    counts = totals(found)
    assert counts["tensors compared"] > enough(4_000)
    assert counts["sites proved, ONNX"] > enough(100)
    assert counts["sites conditional, ONNX"] > enough(10)
    # Bounds of masks, 0 and 1, are not the weakest, so that other values need not break anything.
    assert 2 * counts["bounds with a witness"] > counts["bounds without a witness"]


@pytest.mark.exhaustive
def test_wrong_claims_are_noticed():
    """Claims that are off by one, and sites that are called proved, are violations in nearly every model."""
    found = list(judgements(range(12), partial(judge, adapters={"off by one": off_by_one})))
    assert sum(any("is above" in words or "is below" in words for words in one.violations) for one in found) >= 10
    assert sum(any("some are out of bounds" in words for words in one.violations) for one in found) >= 6

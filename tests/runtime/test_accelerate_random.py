"""`accelerate` on random models; `python tests/tools/evidence.py random_models` tries any number of them."""

from collections import Counter

import numpy as np
import pytest

from helpers.random_outcomes import compare, outcomes
from helpers.seeds import enough, seeds

COUNT = 100


@pytest.mark.exhaustive
def test_random_models_stay_the_same_in_f32():
    found = list(outcomes(seeds(COUNT)))
    assert [outcome for outcome in found if outcome.is_bad] == []
    kinds = Counter((outcome.trial, outcome.kind) for outcome in found)
    assert kinds["in bounds", "same"] > 0.9 * COUNT
    assert kinds["out of bounds", "raises"] > enough(0.2 * COUNT)
    assert kinds["other sizes", "same"] > enough(0.1 * COUNT)
    assert kinds["other sizes", "raises"] > enough(0.1 * COUNT)
    assert len({outcome.seed for outcome in found if outcome.changed}) > enough(0.5 * COUNT)


@pytest.mark.exhaustive
def test_random_models_are_no_less_accurate_in_the_default_precision():
    found = list(outcomes(seeds(60), exact=False))
    assert [outcome for outcome in found if outcome.is_bad] == []
    assert sum(outcome.kind in ("same", "rounds elsewhere") for outcome in found) > 50
    assert len({outcome.seed for outcome in found if outcome.changed}) > enough(30)


ONE, OTHER = [np.float32([0.5, 0.0])], [np.float32([0.5, -0.0])]


@pytest.mark.parametrize(
    ("before", "again", "after", "kind"),
    [
        (ONE, ONE, ONE, "same"),
        ("out of bounds", "out of bounds", "is too large", "raises"),
        (ONE, OTHER, ONE, "unstable"),
        (ONE, "out of bounds", ONE, "unstable"),
        (ONE, ONE, OTHER, "DIFFERS"),
        (ONE, ONE, [ONE[0][:1]], "DIFFERS"),
        ("out of bounds", "out of bounds", ONE, "LOST ERROR"),
        (ONE, ONE, "out of bounds", "NEW ERROR"),
    ],
)
def test_what_counts_as_what(before, again, after, kind):
    assert compare(before, again, after)[0] == kind

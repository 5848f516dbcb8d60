"""The specification of our GatherElements of numbers in lanes, and the reference that judges it."""

import numpy as np
import pytest

from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import reference
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM


@pytest.mark.parametrize("axis", ["1", "-2"])
@pytest.mark.parametrize("broadcast", ["false", "true"])
def test_numbers_in_lanes(axis, broadcast, rng):
    numbers = rng.integers(2**40, 2**41, (4, 5))
    indices = rng.integers(-5, 5, (1 if broadcast == "true" else 3, 7))
    lanes = numbers.view(np.int32).reshape(4, 5, 2)
    attributes = GATHER_ELEMENTS_CUSTOM.read_attributes(
        {"axis": axis, "lanes": "true", "broadcast": broadcast}, [PartialShape.of(lanes.shape), PartialShape.of(indices.shape)]
    )
    expanded = np.broadcast_to(indices, (4, 7)) if broadcast == "true" else indices
    expected = np.take_along_axis(numbers[: len(expanded)], expanded, 1)
    (output,) = GATHER_ELEMENTS_CUSTOM.evaluate([lanes, indices], attributes)
    judged = reference.evaluate(GATHER_ELEMENTS_CUSTOM, [lanes, indices], attributes)
    for found in (output, judged):
        assert (found.shape, found.tobytes()) == ((*expected.shape, 2), expected.tobytes())

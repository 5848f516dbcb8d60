"""Every form of an operator that moves values: it goes in lanes, or something says that it does not.

`python tests/tools/lane_sweep.py` does the same for all types and shapes.
"""

from __future__ import annotations

import pytest

from helpers.moving_operators import FORMS
from tools.lane_sweep import Cell, outcome

REFUSED = {}


@pytest.mark.parametrize("name", FORMS)
def test_every_bit_or_a_reason(name):
    found, reason = outcome(Cell(name, "int64" if FORMS[name].opset != 10 else "float16", "open"))
    print(name, found, reason[:150])

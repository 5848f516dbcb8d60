"""Every single fault of a large set is found: see mutations.py."""

from __future__ import annotations

import pytest

from tools.mutations import not_found


@pytest.mark.slow
def test_every_mutation_is_found():
    total, missed = not_found()
    assert missed == []
    assert total > 200

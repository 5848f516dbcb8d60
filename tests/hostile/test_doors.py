"""Every public door holds against a bounded number of seeded attacks; tests/tools/adversary.py makes any number."""

from __future__ import annotations

import pytest

from helpers.adversary import attacks, door_names, trials_of
from helpers.seeds import seeds

pytestmark = pytest.mark.slow
PARTS = 12
"""Of the seeds of a door, the core tries one in twelve."""


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.exhaustive) for part in range(1, PARTS))])
@pytest.mark.parametrize("door", door_names())
def test_door_holds(door, part):
    own = seeds(trials_of(door))[part::PARTS]
    if not own:
        pytest.skip("the door has fewer attacks than parts")
    broken = [attack for attack in attacks(door, own) if attack.finding]
    assert not broken, "\n".join(f"{door} --seed {attack.seed}\n{attack.finding}" for attack in broken)

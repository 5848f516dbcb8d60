"""Every public door holds against a bounded number of seeded attacks; tests/tools/adversary.py makes any number."""

from __future__ import annotations

import pytest

from helpers.adversary import attacks, door_names, trials_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("door", door_names())
def test_door_holds(door):
    broken = [attack for attack in attacks(door, range(trials_of(door))) if attack.finding]
    assert not broken, "\n".join(f"{door} --seed {attack.seed}\n{attack.finding}" for attack in broken)

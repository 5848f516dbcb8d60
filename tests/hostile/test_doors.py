"""Every public door holds against a bounded number of seeded attacks; tests/tools/adversary.py makes any number."""

from __future__ import annotations

import pytest

from helpers.adversary import attacks, door_names, trials_of
from helpers.seeds import seeds

PARTS = 40
"""Of the seeds of a door, the core tries one in forty."""


def parts():
    for door in door_names():
        for part in range(min(PARTS, trials_of(door))):
            yield pytest.param(door, part, marks=pytest.mark.exhaustive if part else (), id=f"{door}-{part}")


@pytest.mark.parametrize(("door", "part"), list(parts()))
def test_door_holds(door, part):
    broken = [attack for attack in attacks(door, seeds(trials_of(door))[part::PARTS]) if attack.finding]
    assert not broken, "\n".join(f"{door} --seed {attack.seed}\n{attack.finding}" for attack in broken)

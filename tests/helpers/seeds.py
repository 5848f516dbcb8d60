"""The seeds of what tests draw at random: the same in each run, and others for each TEST_SEED, such as the date, 20261127."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import settings

VARIABLE = "TEST_SEED"
GIVEN = os.environ.get(VARIABLE, "")
if GIVEN and not GIVEN.isdecimal():
    raise pytest.UsageError(f"{VARIABLE}={GIVEN} is no number such as 20261127")
_FIRST = int(GIVEN or 0) * 10**10
"""More than the seeds of one run, so that those of two values of TEST_SEED differ."""


def seed_of(number: int) -> int:
    """Return a seed of this run; without TEST_SEED, the number itself."""
    return _FIRST + number


def seeds(count: int) -> range:
    """Return the first seeds of this run."""
    return range(seed_of(0), seed_of(count))


def choices(name: str) -> random.Random:
    """Return the random choices of this run that belong to a name."""
    return random.Random(GIVEN + name)


def enough(usual: float) -> float:
    """Return how many of a kind a run must have drawn at least: a quarter of what is usual, if the seeds are other ones."""
    return usual / 4 if GIVEN else usual


def seed_hypothesis(config: pytest.Config) -> None:
    """Let hypothesis draw by TEST_SEED, in continuous integration, too, where it draws the same in each run otherwise."""
    if GIVEN:
        settings.register_profile("seeded", derandomize=False, deadline=None, print_blob=True)
        config.option.hypothesis_profile, config.option.hypothesis_seed = "seeded", GIVEN

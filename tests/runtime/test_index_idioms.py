"""What `prove` says of the idioms by which real models compute indices."""

import pytest

from helpers.index_idioms import IDIOMS
from ov_gather import prove


def answer(model):
    """The conditions of all sites of a model; it has no other site."""
    proofs = prove(model)
    assert {proof.status for proof in proofs} <= {"proved", "conditional"}, [proof.headline for proof in proofs]
    return {name: bounds for proof in proofs for name, bounds in proof.requires.items()}


@pytest.mark.parametrize("name", IDIOMS)
def test_static_shapes(name):
    assert answer(IDIOMS[name].model(is_dynamic=False)) == IDIOMS[name].if_static


@pytest.mark.parametrize("name", IDIOMS)
def test_open_shapes(name):
    assert answer(IDIOMS[name].model(is_dynamic=True)) == IDIOMS[name].if_dynamic

"""The table of divergences: what it must say, and which runtimes, versions and operations an entry concerns."""

from dataclasses import replace

import pytest

from ov_gather.divergences.base import Divergence, Observed
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.runtimes.isolated import RUNTIMES

KNOWN = Divergence("name", ("openvino",), (Observed.REFUSES,), lambda view, operands: True, "why")


def test_names_are_unique_and_reasons_given():
    names = [known.name for known in DIVERGENCES]
    assert len(set(names)) == len(names)
    assert all(known.why and known.observed and known.runtimes for known in DIVERGENCES)
    assert {runtime for known in DIVERGENCES for runtime in known.runtimes} <= set(RUNTIMES)


def test_only_outputs_are_predicted():
    outputs = {Observed.AGREES, Observed.DIFFERS, Observed.ANSWERS}
    assert all(set(known.observed) <= outputs for known in DIVERGENCES if known.predicts)


@pytest.mark.parametrize(
    ("known", "concerned"),
    [
        (KNOWN, True),
        (replace(KNOWN, runtimes=("extension",)), False),
        (replace(KNOWN, operations=("Gather-7", "Gather-8")), True),
        (replace(KNOWN, operations=("Gather-1",)), False),
        (replace(KNOWN, since="2025.3"), True),
        (replace(KNOWN, since="2026.4.1"), True),
        (replace(KNOWN, since="2026.10"), False),
        (replace(KNOWN, before="2026.4.1"), False),
        (replace(KNOWN, since="2025.3", before="2026.10"), True),
    ],
)
def test_what_an_entry_concerns(known, concerned):
    assert known.concerns("openvino", "2026.4.1", "Gather-8") is concerned

"""Reproducers of faults still do what their reports say, with the release and on the CPU that were measured."""

import pytest

from ov_gather.divergences import cpu
from tools.upstream.measured import Measured
from tools.upstream.registry import FAULTS
from tools.upstream.running import SKIPPED, run, shows, versions

pytestmark = pytest.mark.onnxruntime
MEASURED = Measured()


@pytest.fixture(scope="module")
def here():
    return versions()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_reproducer_shows_what_was_measured(fault, here):
    outcome = run(fault)
    assert outcome.kind != SKIPPED, outcome.output
    known = MEASURED.kinds[fault.package].get(here[fault.package], {}).get(cpu.model_name(), {}).get(fault.name)
    if known is None:
        pytest.skip("not measured with this release on this CPU")
    assert outcome.shows is shows(known), outcome

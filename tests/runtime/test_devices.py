"""Layers on devices of OpenVINO other than the CPU by its own name."""

import pytest

from helpers.paths import SAMPLES, VALID
from ov_gather import cross_check
from ov_gather.runtimes.devices import involved, leading, require_device

pytestmark = pytest.mark.openvino


@pytest.mark.parametrize(
    ("device", "real"),
    [
        ("CPU", ("CPU",)),
        ("AUTO", ("CPU",)),
        ("HETERO:GPU.1,CPU", ("GPU", "CPU")),
        ("BATCH:GPU(4)", ("GPU",)),
        ("GPU", ("GPU",)),
    ],
)
def test_what_a_name_leads_to(device, real):
    assert leading(device) == real
    assert set(involved(device, real)) == {device.partition(":")[0], *real}


@pytest.mark.parametrize("device", ["XPU", "HETERO:XPU,CPU", "BATCH:XPU(2)", "cpu", ""])
def test_a_device_that_there_is_not_is_refused(device):
    with pytest.raises(ValueError, match=r"OpenVINO has no device .* here; there are CPU"):
        require_device(device)
    with pytest.raises(ValueError, match="OpenVINO has no device"):
        cross_check(VALID / "gather_8.xml", device=device)


@pytest.mark.parametrize("device", ["AUTO", "HETERO:CPU", "BATCH:CPU"])
def test_layers_are_checked_on_a_device(device):
    result = cross_check(SAMPLES / "divergent" / "negative-indices" / "onnx_page_3.xml", device=device, cases=2)
    assert result.passed
    assert result.divergences == ("negative-indices",)


def test_a_device_has_divergences_of_its_own():
    on_batch = cross_check(VALID / "dynamic_shapes.xml", runtimes=["openvino"], device="BATCH:CPU", cases=1)
    assert (on_batch.passed, on_batch.divergences) == (True, ("no-lowest-sizes",))
    on_cpu = cross_check(VALID / "dynamic_shapes.xml", runtimes=["openvino"], cases=1)
    assert (on_cpu.passed, on_cpu.divergences) == (True, ())

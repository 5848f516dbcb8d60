"""`accelerate` makes no model that meets a known fault of OpenVINO which the model before did not meet."""

import numpy as np
import openvino
import pytest

from helpers.known_faults import EXPORTS, LIGHT
from helpers.paths import SAMPLES
from helpers.small_architectures import ARCHITECTURES
from ov_gather import accelerate, register
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.plugin.register import KNOWN
from ov_gather.ranges.known_faults import FaultFinder


def reports(model):
    return {fault.report for fault, _ in FaultFinder(OpenvinoGraph(model)).found(KNOWN)}


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    "sample",
    sorted({*SAMPLES.glob("valid/*.xml")} - {SAMPLES / "valid" / "spec_layer_fragment.xml"}),
    ids=lambda path: path.stem,
)
def test_samples(sample):
    model = register(openvino.Core()).read_model(sample)
    before = reports(model)
    accelerate(model)
    assert reports(model) <= before


@pytest.mark.parametrize("name", [*EXPORTS, *ARCHITECTURES])
def test_networks(name):
    source = LIGHT / f"{name}.onnx" if name in EXPORTS else ARCHITECTURES[name](np.random.default_rng(0))[0].SerializeToString()
    model = openvino.Core().read_model(source)
    before = reports(model)
    accelerate(model)
    assert reports(model) <= before

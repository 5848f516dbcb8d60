"""What the tests inside OpenVINO share."""

import openvino as ov
import pytest

import ov_gather


@pytest.fixture(scope="module")
def core():
    return ov_gather.register(ov.Core())

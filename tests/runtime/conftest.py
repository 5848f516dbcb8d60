"""What the tests inside OpenVINO share."""

from functools import partial

import openvino as ov
import pytest

import ov_gather
from helpers import known_patterns


@pytest.fixture(scope="module")
def core():
    return ov_gather.register(ov.Core())


@pytest.fixture
def agrees(tmp_path):
    """Return a check that a model is warned of if one of its outputs is wrong, and only then."""
    return partial(known_patterns.check, tmp_path / "model.xml")


@pytest.fixture
def each_agrees(tmp_path):
    """Return the same check of several models, by name."""
    return partial(known_patterns.check_each, tmp_path / "model.xml")

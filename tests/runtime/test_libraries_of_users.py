"""`check` of a library of a user: each planted fault gets its name, and no other; a right library passes."""

import shutil
from functools import partial

import pytest

import ov_gather
from helpers.declaring import declared
from helpers.planted_faults import DECLARATION, FAULTS, LIBRARY, write_shift
from helpers.users_operations import build
from ov_gather.crosscheck.library import probes
from ov_gather.crosscheck.library.faults import PROBES
from ov_gather.crosscheck.results import Status

pytestmark = [pytest.mark.openvino, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]
CASES = 6


@pytest.fixture
def declaration(tmp_path):
    with declared(tmp_path / "shift_ops.py", DECLARATION) as path:
        yield path


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Check a model with the library that has one fault; all of them are one file with several names."""
    built = build(LIBRARY, tmp_path_factory.mktemp("library") / "libshift.so")
    return partial(_checked, built)


def _checked(built, tmp_path, fault, **options):
    library = shutil.copy(built, tmp_path / f"lib{fault}.so")
    model = write_shift(tmp_path / "shift.xml", **options)
    result = ov_gather.cross_check(model, extensions=[library], cases=CASES, failures=tmp_path / "failures")
    (layer,) = result.layers
    return result, layer


def found_in(layer):
    return [comparison.detail for comparison in layer.comparisons if comparison.runtime == "library" and not comparison.passed]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["f32", "f64", "i32"])
def test_a_right_library_passes_every_probe(tmp_path, declaration, kind, checked):
    result, layer = checked(tmp_path, "RIGHT", kind=kind, shape=("?", 3, "?"))
    assert result.passed, layer
    assert layer.kernel == ""
    assert layer.counts["library"] == {Status.PASSED: len(PROBES)}
    assert layer.counts["openvino"] == {Status.PASSED: len(layer.cases) - len(PROBES)}
    assert set(layer.counts) == {"library", "openvino"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_name_and_no_other(tmp_path, declaration, fault, monkeypatch, checked):
    if fault == "HANGS":
        monkeypatch.setattr(probes, "LIMIT", 5.0)
    result, layer = checked(tmp_path, fault)
    (said,) = found_in(layer)
    assert said.startswith(FAULTS[fault])
    assert not result.passed
    assert not layer.problem


@pytest.mark.exhaustive
def test_wrong_values_are_reduced_and_can_be_replayed(tmp_path, declaration, checked):
    _, layer = checked(tmp_path, "OFF_BY_ONE")
    failed = next(case for case in layer.cases if case.replay)
    assert not failed.passes_again
    assert f"--ops {declaration}" in failed.replay
    assert f"--extension {tmp_path / 'libOFF_BY_ONE.so'}" in failed.replay
    assert {path.name for path in (tmp_path / "failures").rglob("*.npy")} == {"x.npy", "y.npy"}


def test_a_wrong_reference_is_not_blamed_on_the_library(tmp_path, checked):
    wrong = DECLARATION.replace("[x, y + y], attributes", "[x, y, y], attributes")
    with declared(tmp_path / "wrong_ops.py", wrong) as path:
        result, layer = checked(tmp_path, "RIGHT")
        assert not result.passed
        assert layer.problem.startswith(f"not executed: {path}:27: reference of Shift-example returns output of shape")
        assert not layer.cases


def test_without_a_library_nothing_is_compared(tmp_path, declaration):
    result = ov_gather.cross_check(write_shift(tmp_path / "shift.xml"), cases=CASES)
    assert not result.passed
    assert "give the library that executes this by --extension" in result.layers[0].problem

"""The table of divergences: what it must say, which runtimes an entry concerns, what was measured elsewhere."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ov_gather.crosscheck.layers import reference_outcome
from ov_gather.crosscheck.verdict import Observation, judge
from ov_gather.divergences.base import Divergence, Observed
from ov_gather.divergences.cpu_plugin import BASELINE, Arithmetic
from ov_gather.divergences.cpu_scatters import scattered
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64, by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.gather import GATHER_1, GATHER_7, GATHER_8
from ov_gather.ops.layer_view import family_layers
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.isolated import RUNTIMES
from ov_gather.system.worker import CrashedError

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
        (replace(KNOWN, operations=(GATHER_7, GATHER_8)), True),
        (replace(KNOWN, operations=(GATHER_1,)), False),
        (replace(KNOWN, since="2025.3"), True),
        (replace(KNOWN, since="2026.4.1"), True),
        (replace(KNOWN, since="2026.10"), False),
        (replace(KNOWN, before="2026.4.1"), False),
        (replace(KNOWN, since="2025.3", before="2026.10"), True),
    ],
)
def test_what_an_entry_concerns(known, concerned):
    assert known.concerns("openvino", "2026.4.1", "Gather-8") is concerned


MEASURED = json.loads((Path(__file__).parents[1] / "tools" / "releases" / "measured.json").read_text())
BIG = 2**40 + 3
AT_0 = np.array([0, 0], np.int64)


def elements(element_type, opset="opset6"):
    """A GatherElements of 3 elements by 2 indices."""
    builder = ModelBuilder("elements")
    inputs = [builder.parameter("data", element_type, PartialShape.of((3,)))]
    inputs.append(builder.parameter("indices", I64, PartialShape.of((2,))))
    (output,) = builder.layer("GatherElements", "gather", opset, {"axis": "0"}, inputs, [(element_type, PartialShape.of((2,)))])
    builder.result("output", output)
    (view,) = family_layers(builder.build())
    return view


def names(version, view, data, indices, found, devices=("CPU",)):
    """The divergences that explain an outcome; None where nothing explains it."""
    operands = [np.array(data, view.input_types[0].dtype), indices]
    outcome = found if isinstance(found, Exception) else np.array(found, operands[0].dtype)
    right = reference_outcome(view, operands)
    expected = right if isinstance(right, Exception) else right[0]
    result = judge("openvino", version, expected, Observation(outcome), view, operands, devices)
    return result.divergences if result.passed else None


def test_nothing_was_observed_that_no_divergence_explains():
    assert set(MEASURED["unnamed"].values()) == {0}
    assert {"2024.6.0", "2025.2.0", "2025.4.1", "2026.2.0", "2026.4.1"} <= set(MEASURED["counts"])


# What a release does not read is not among the cases: tests/unit/test_releases.py is about it.
DATED = [known for known in DIVERGENCES if (known.since or known.before) and known.name != "no-family-in-opset16"]


@pytest.mark.parametrize("known", DATED, ids=lambda known: known.name)
def test_a_divergence_of_some_releases_was_seen_in_each_of_them(known):
    seen = {release for release, counts in MEASURED["counts"].items() if counts.get(known.name, (0, 0))[0]}
    operation = known.operations[0].name if known.operations else ""
    concerned = {release for release in MEASURED["counts"] if known.concerns("openvino", release, operation)}
    assert concerned
    assert concerned <= seen


@pytest.mark.parametrize(
    ("version", "expected"), [("2025.2.0", ("unchecked-gathers",)), ("2025.3.0", None), ("2026.4.1", None)]
)
def test_negative_indices_crash_releases_before_2025_3(version, expected):
    crash = CrashedError("crashes: SIGSEGV")
    assert names(version, elements(F32), [1, 2, 3], np.array([-1, 0], np.int64), crash) == expected
    assert names(version, elements(F32), [1, 2, 3], AT_0, crash) is None


def test_integers_saturate_before_2025_4_and_wrap_around_since():
    view = elements(I64)
    saturated, wrapped = [2**31 - 1] * 2, [3, 3]
    assert names("2025.3.0", view, [BIG, 0, 0], AT_0, saturated) == ("saturated-to-32-bits",)
    assert names("2025.3.0", view, [BIG, 0, 0], AT_0, wrapped) is None
    assert names("2025.4.1", view, [BIG, 0, 0], AT_0, saturated) is None
    assert names("2025.4.1", view, [BIG, 0, 0], AT_0, wrapped) == ("narrowed-to-32-bits",)


def test_opset16_is_refused_before_2026():
    refusal = RefusedError("Opset opset16 doesn't contain the operation with type: GatherElements")
    assert names("2025.4.1", elements(F32, "opset16"), [1, 2, 3], AT_0, refusal) == ("no-family-in-opset16",)
    assert names("2025.4.1", elements(F32), [1, 2, 3], AT_0, refusal) is None
    assert names("2026.0.0", elements(F32, "opset16"), [1, 2, 3], AT_0, refusal) is None


def test_elements_below_a_byte_of_gather_elements_were_right_in_all_releases():
    assert names("2024.6.0", elements(by_name("u4")), [1, 2, 3], AT_0, [2, 2]) is None


def test_a_divergence_of_one_device_excuses_no_other():
    view, wrapped = elements(I64), [3, 3]
    assert names("2026.4.1", view, [BIG, 0, 0], AT_0, wrapped, ("AUTO", "CPU")) == ("narrowed-to-32-bits",)
    assert names("2026.4.1", view, [BIG, 0, 0], AT_0, wrapped, ("AUTO", "GPU")) is None


RECORD = json.loads((Path(__file__).parent / "sapphire_rapids_scatters.json").read_text())
SAPPHIRE_RAPIDS = Arithmetic(bf16=True, f8=True)


def named(case):
    return "-".join(str(case.get(key)) for key in ("type", "reduction", "use_init_val", "data_shape"))


def operands_of(case):
    kind = by_name(case["type"]).dtype
    if case.get("every_byte"):  # every second byte is written to its own place
        every = np.arange(256, dtype=np.uint8).view(kind)
        return [every, np.arange(0, 256, 2), every[::2]]
    indices = np.array(case["indices"])
    data, updates = (np.frombuffer(bytes.fromhex(case[name]), kind) for name in ("data", "updates"))
    return [data.reshape(case["data_shape"]), indices, updates.reshape(indices.shape)]


def as_predicted(case, arithmetic):
    """The prediction and the record, with one NaN for all where a reduction leaves open which."""
    attributes = {"axis": 0} if case.get("every_byte") else {key: case[key] for key in ("axis", "reduction", "use_init_val")}
    operation = SimpleNamespace(type="ScatterElementsUpdate")
    view = SimpleNamespace(constant=lambda port: None, attributes_for=lambda operands: attributes, operation=operation)
    predicted = scattered(view, operands_of(case), arithmetic)
    recorded = np.frombuffer(bytes.fromhex(case["plugin"]), predicted.dtype).reshape(predicted.shape).copy()
    if attributes.get("reduction", "none") != "none":
        recorded[np.isnan(recorded)] = predicted[np.isnan(predicted)] = np.nan
    return predicted.tobytes() == recorded.tobytes()


@pytest.mark.parametrize("case", RECORD["cases"], ids=named)
def test_scatter_on_sapphire_rapids(case):
    assert as_predicted(case, SAPPHIRE_RAPIDS)


@pytest.mark.parametrize("element_type", ["bf16", "f8e4m3", "f8e5m2"])
def test_other_cpus_are_predicted_otherwise(element_type):
    cases = [case for case in RECORD["cases"] if case["type"] == element_type]
    assert not all(as_predicted(case, BASELINE) for case in cases)


def scatter(kind, reduction, lanes=""):
    """A ScatterElementsUpdate of 2 updates into 3 elements, or numbers in lanes, along axis 0."""
    builder = ModelBuilder("scatter")
    sizes = (
        {"data": (3, 2), "indices": (2,), "updates": (2, 2)} if lanes else dict.fromkeys(("data", "indices", "updates"), (3,))
    )
    inputs = [builder.parameter(name, I64 if name == "indices" else kind, PartialShape.of(sizes[name])) for name in sizes]
    if lanes:
        text, version, given = {"reduction": reduction, "axis": "0", "lanes": lanes}, "ov_gather", inputs
    else:
        axis = builder.const("axis", I64, np.array(0))
        text, version, given = {"reduction": reduction}, "opset12", [*inputs, axis]
    name = "ScatterElements" if lanes else "ScatterElementsUpdate"
    (output,) = builder.layer(name, "scatter", version, text, given, [(kind, PartialShape.of(sizes["data"]))])
    builder.result("output", output)
    (view,) = family_layers(builder.build())
    return view


def with_bits(array, position, bits):
    """A copy of an array with these bits at a position of its flat order."""
    copy = array.copy()
    copy.reshape(-1).view(f"u{copy.itemsize}")[position] = bits
    return copy


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max", "mean"])
@pytest.mark.parametrize(("place", "passes"), [(1, True), (2, False)])  # place 1 is updated, 2 only copied
def test_the_bits_of_a_nan_count_where_it_is_copied(kind, reduction, place, passes):
    view = scatter(by_name(kind), reduction)
    dtype = view.input_types[0].dtype
    nan = np.array(np.nan, dtype)
    operands = [np.full(3, nan, dtype), np.array([0, 1, 1]), np.zeros(3, dtype), np.array(0)]
    (right,) = reference_outcome(view, operands)
    assert np.isnan(right).all()
    other = int(nan.view(f"u{dtype.itemsize}")) | (1 << (8 * dtype.itemsize - 1)) | 1
    found = with_bits(right, place, other)
    assert judge("kernel", "1", right, Observation(found), view, operands).passed is passes
    number = right.copy()
    number[place] = 1
    assert not judge("kernel", "1", right, Observation(number), view, operands).passed


@pytest.mark.parametrize(("place", "passes"), [(0, True), (2, False)])
def test_the_bits_of_a_nan_in_lanes_count_where_it_is_copied(place, passes):
    view = scatter(by_name("i32"), "add", "f64")
    data, updates = (np.full(size, np.nan).view(np.int32).reshape(size, 2) for size in (3, 2))
    operands = [data, np.array([0, 1]), updates]
    (right,) = reference_outcome(view, operands)
    found = right.copy()
    found.reshape(-1)[2 * place] += 1  # in the payload
    assert judge("extension", "2026.4.1", right, Observation(found), view, operands).passed is passes


@pytest.mark.parametrize(
    ("reduction", "data", "updates", "found", "passes"),
    [
        ("max", [np.nan, 1, 1], [2, 3, np.nan], [2, np.nan, 1], True),
        ("min", [np.nan, 1, 1], [2, np.nan, 3], [2, 3, 1], True),
        ("max", [np.nan, 1, 1], [2, np.nan, 3], [np.nan, 3, 1], False),
        ("max", [np.nan, 1, 1], [2, 3, np.nan], [2, 3, 1], False),
    ],
)
def test_nan_loses_to_later_updates_in_onnxruntime(reduction, data, updates, found, passes):
    view = scatter(F32, reduction)
    operands = [np.array(data, np.float32), np.array([0, 1, 1]), np.array(updates, np.float32), np.array(0)]
    (right,) = reference_outcome(view, operands)
    result = judge("onnxruntime", "1.31.1", right, Observation(np.array(found, np.float32)), view, operands)
    assert result.passed is passes
    assert result.divergences == (("nan-loses-in-onnxruntime",) if passes else ())

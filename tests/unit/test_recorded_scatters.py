"""What we say the CPU plugin computes on Sapphire Rapids, against what it computed there, recorded byte for byte."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ov_gather.divergences.cpu_plugin import BASELINE, Arithmetic
from ov_gather.divergences.cpu_scatters import scattered
from ov_gather.ir.element_types import by_name

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

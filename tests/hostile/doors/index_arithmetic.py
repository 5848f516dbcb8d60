"""`compile_onnx` and `convert_model` on random index arithmetic before gathers: as onnxruntime, refused, or with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import openvino

from helpers.random_arithmetic import Sample, sample
from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx, convert_model

TRIALS = 120
SECONDS = 60
EXACT = 2**24  # float32 represents all integers up to this one
# Samples have no value beyond 32 bits and no index out of bounds, so these warnings explain no difference.
EXPLAINS_NOTHING = ("an index out of bounds", "u32 is computed as i32")
EXPLAINS_LARGE_NUMBERS = (
    *("i64 is computed as i32", "u64 is computed as i32"),
    *("OVG712", "OpenVINO's CPU plugin computes integers as f32"),
)
STOCK = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Convert a random model and compare each of its outputs."""
    one = sample(rng)
    execute = _stock if rng.random() < 0.3 else _extension
    if not one.expected:
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, failure = execute(one, caught), ""
        except ConversionError:
            return
        except Exception as error:
            found, failure = {}, f"{type(error).__name__}: {error}"
    if failure:
        assert _explains(max(one.largest[name] for name in one.expected), caught), f"{failure}\nwarnings: {_lines(caught)}"
        return
    for name, expected in one.expected.items():
        is_same = name in found and found[name].shape == expected.shape and np.array_equal(found[name], expected)
        what = f"{name}: {found[name].tolist()}, not {expected.tolist()}"
        assert is_same or _explains(one.largest[name], caught), f"{what}\nwarnings: {_lines(caught)}"


def _extension(one: Sample, caught: Sequence[warnings.WarningMessage]) -> Mapping[str, np.ndarray]:
    return compile_onnx(one.model)(one.feed)


def _stock(one: Sample, caught: Sequence[warnings.WarningMessage]) -> Mapping[str, np.ndarray]:
    """Execute models without warnings alone: a wrong index may end the process."""
    converted = convert_model(one.model)
    if _explains(max(one.largest.values()), caught):
        raise ConversionError("warned of")
    try:
        request = openvino.Core().compile_model(converted, "CPU", STOCK).create_infer_request()
    except RuntimeError as error:
        raise ConversionError(str(error)) from None
    request.start_async({name: one.feed[name] for port in converted.inputs for name in port.get_names() if name in one.feed})
    request.wait()
    return {name: request.get_tensor(name).data.copy() for name in one.expected}


def _explains(largest: float, caught: Sequence[warnings.WarningMessage]) -> bool:
    """Return True if a warning explains a difference from onnxruntime for values up to `largest`."""
    useless = EXPLAINS_NOTHING if largest > EXACT else (*EXPLAINS_NOTHING, *EXPLAINS_LARGE_NUMBERS)
    return any(not line.startswith(useless) for line in _lines(caught))


def _lines(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    return [str(each.message) for each in caught if issubclass(each.category, LossyConversionWarning)]

"""A whole model beside another that computes the same, as `accelerate` makes it: time, which operations take it, and accuracy.

Measured in f32, and in the precision that OpenVINO computes in by default on this machine.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, sqrt
from statistics import median
from types import MappingProxyType
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from ov_gather.acceleration.graph import operation, walk
from ov_gather.bench.inputs import inputs_for
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.runtimes.devices import CPU, leading, require_device
from ov_gather.runtimes.session import Inference, Session

Array = NDArray[Any]

PAIRS = 10
"""So many pairs of inferences are timed at least, and more until SECONDS have passed."""
SECONDS = 4.0
TOLERANCE = 1.05
"""How many times the error in bf16 or f16 may be what it was before."""
_PROFILED = 10
"""Inferences whose operations are timed, after as many that are not."""


@dataclass(frozen=True, slots=True)
class ModelMeasurement:
    """Times and errors of both models in one precision.

    Attributes:
        seconds: the medians of an inference.
        ratio: how many times faster it is, the median of pairs.
        shares: what part of that time each type of operation takes.
        same: whether the outputs are the same, bit by bit.
        errors: how far the outputs are from those before in f32, as `error` tells.
    """

    precision: str
    seconds: tuple[float, float]
    ratio: float
    shares: tuple[Mapping[str, float], Mapping[str, float]]
    same: bool
    errors: tuple[float, float]

    @property
    def is_worse(self) -> bool:
        """Whether outputs differ in f32, or in another precision are less accurate than before."""
        return not self.same and self.errors[1] > TOLERANCE * self.errors[0]


@dataclass(frozen=True, slots=True)
class Place:
    """Where models are executed: on a device of OpenVINO, with so many threads."""

    device: str
    threads: int


def measure(
    before: ov.Model,
    after: ov.Model,
    threads: int,
    device: str = CPU,
    given: Mapping[str, Array] = MappingProxyType({}),
) -> list[ModelMeasurement]:
    """Return both on the same inputs, on a device, in f32 and in its default precision if that is another.

    Inputs are those that are given by name, and for the rest random ones; where a dimension is open, of a size of 128.

    Raises ValueError for models whose inputs differ, as `inputs_for` does, and for a device that there is not.
    """
    require_device(device)
    place = Place(device, threads)
    if (wanted := list(map(_describe, before.inputs))) != (has := list(map(_describe, after.inputs))):
        raise ValueError(f"the inputs of both models must be the same, but are {wanted} and {has}")
    inputs = inputs_for(before, given)
    exact = _outputs(prepare(before, inputs, "f32", place))
    precisions = dict.fromkeys(("f32", default_precision(leading(device)[0])))
    return [_measure(before, after, inputs, exact, precision, place) for precision in precisions]


def default_precision(device: str = CPU) -> str:
    """Return what the plugin of a device computes f32 in on this machine, if it is not told: f32, bf16 or f16."""
    return str(ov.Core().get_property(device, "INFERENCE_PRECISION_HINT").get_type_name())


def _measure(
    before: ov.Model, after: ov.Model, inputs: list[Array], exact: list[Array], precision: str, place: Place
) -> ModelMeasurement:
    inferences = [prepare(model, inputs, precision, place) for model in (before, after)]
    pairs = by_turns(inferences[0], inferences[1])
    first, second = map(_outputs, inferences)
    return ModelMeasurement(
        precision,
        (median(one for one, _ in pairs), median(other for _, other in pairs)),
        median(one / other for one, other in pairs),
        (_shares(before, inputs, precision, place), _shares(after, inputs, precision, place)),
        [array.tobytes() for array in first] == [array.tobytes() for array in second],
        (error(first, exact), error(second, exact)),
    )


def error(outputs: list[Array], exact: list[Array]) -> float:
    """Tell how far outputs are from exact ones: the root of the mean square over all outputs, each relative to its own size.

    Infinite where the shapes differ.
    """
    squares = [_relative(one, other) ** 2 for one, other in zip(outputs, exact, strict=True)]
    return sqrt(sum(squares) / len(squares)) if squares else 0.0


def _relative(output: Array, exact: Array) -> float:
    """Tell how far one output is off. It is infinite where only one of both arrays has a NaN, too."""
    if output.shape != exact.shape or (np.isnan(output) != np.isnan(exact)).any():
        return inf
    have, want = (array[~np.isnan(exact)].astype(np.float64) for array in (output, exact))
    differs = have != want  # infinity less infinity would be NaN
    size = np.sqrt(np.mean(np.square(want[np.isfinite(want)]))) if np.isfinite(want).any() else 0.0
    distance = np.sqrt(np.square(have[differs] - want[differs]).sum() / max(want.size, 1))
    return float(distance / size if size else distance)


def _outputs(inference: Inference) -> list[Array]:
    """Run an inference once more, and give its outputs."""
    inference.run()
    return inference.outputs()


def by_turns(first: Inference, second: Inference, seconds: float | None = None) -> list[tuple[float, float]]:
    """Return the seconds of pairs of inferences, of which now the one is first, now the other."""
    _seconds(first), _seconds(second)
    pairs: list[tuple[float, float]] = []
    end = time.perf_counter() + (SECONDS if seconds is None else seconds)
    while len(pairs) < PAIRS or time.perf_counter() < end:
        pairs.append((_seconds(first), _seconds(second)))
        pairs.append((_seconds(second), _seconds(first))[::-1])
    return pairs


def _seconds(inference: Inference) -> float:
    start = time.perf_counter()
    inference.run()
    return time.perf_counter() - start


def _describe(port: Any) -> str:
    return f"{port.get_element_type()} {port.get_partial_shape()}"


def prepare(model: ov.Model, inputs: list[Array], precision: str, place: Place, profile: bool = False) -> Inference:
    """Compile a model for a precision, and return an inference that has its inputs."""
    properties = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": place.threads, "PERF_COUNT": profile}
    return Session(ov.Core(), model, place.device, properties).prepare(inputs)


def _shares(model: ov.Model, inputs: list[Array], precision: str, place: Place) -> Mapping[str, float]:
    """Return what part of the time each type of operation takes, the greatest first. Ours the plugin calls "Reference"."""
    ours = {node.get_friendly_name(): operation(node) for _, node in walk(model) if operation(node).startswith(CUSTOM_OPSET)}
    inference = prepare(model, inputs, precision, place, profile=True)
    seconds: Counter[str] = Counter()
    for i in range(2 * _PROFILED):
        inference.run()
        for info in inference.profile if i >= _PROFILED else ():
            seconds[ours.get(info.node_name, info.node_type)] += info.real_time.total_seconds()
    total = seconds.total() or 1.0  # a device need not tell times
    return {name: value / total for name, value in seconds.most_common()}

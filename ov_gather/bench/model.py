"""Comparison of two equivalent models, such as before and after `accelerate`: time, time per operation type, accuracy.

Both are measured in f32 and in OpenVINO's default precision on this machine.
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
from ov_gather.bench.case import seconds_of
from ov_gather.bench.spread import Spread, quartiles
from ov_gather.crosscheck.inputs.openvino import generate_inputs
from ov_gather.extension import reason
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.runtimes.devices import CPU, leading, require_device
from ov_gather.runtimes.session import Inference, Session

Array = NDArray[Any]

PAIRS = 10
"""Minimum number of timed pairs of inferences; more are timed until SECONDS have passed."""
SECONDS = 4.0
TOLERANCE = 1.05
"""Factor by which the error in bf16 or f16 may grow."""
OPEN_SIZE = 128
"""Size of dynamic dimensions of generated inputs, clamped to their bounds."""
_PROFILED = 10
"""Profiled inferences, after as many for warming up."""


@dataclass(frozen=True, slots=True)
class ModelMeasurement:
    """Times and errors of both models in one precision.

    Attributes:
        seconds: median times of an inference.
        spread: how many times faster the second model is, in pairs of inferences: the quartiles and the median.
        shares: the fraction of the time per operation type.
        same: whether the outputs are bit-identical.
        errors: the errors of the outputs, relative to the first model in f32 (`error`).
    """

    precision: str
    seconds: tuple[float, float]
    spread: Spread
    shares: tuple[Mapping[str, float], Mapping[str, float]]
    same: bool
    errors: tuple[float, float]

    @property
    def ratio(self) -> float:
        """How many times faster the second model is, by the median times; 1 if that is within the spread."""
        return 1.0 if self.spread.low <= 1 <= self.spread.high else self.seconds[0] / self.seconds[1]

    @property
    def is_worse(self) -> bool:
        """True if outputs differ in f32, or are less accurate in another precision."""
        return not self.same and self.errors[1] > TOLERANCE * self.errors[0]


@dataclass(frozen=True, slots=True)
class Target:
    """The OpenVINO device and the number of threads to execute on."""

    device: str
    threads: int


def measure(
    before: ov.Model,
    after: ov.Model,
    threads: int,
    device: str = CPU,
    given: Mapping[str, Array] = MappingProxyType({}),
) -> list[ModelMeasurement]:
    """Measure both models on the same inputs and device, in f32 and in the device's default precision if that differs.

    Inputs in `given` are used by name. Others are random, with 128 for dynamic dimensions.

    Raises ValueError if the inputs of the models differ, the device does not exist, or `inputs_for` raises it.
    """
    require_device(device)
    place = Target(device, threads)
    if (wanted := list(map(_describe, before.inputs))) != (has := list(map(_describe, after.inputs))):
        raise ValueError(f"the inputs of both models must be the same, but are {wanted} and {has}")
    inputs = inputs_for(before, given)
    exact = _outputs(prepare(before, inputs, "f32", place))
    precisions = dict.fromkeys(("f32", default_precision(leading(device)[0])))
    return [_measure(before, after, inputs, exact, precision, place) for precision in precisions]


def default_precision(device: str = CPU) -> str:
    """Return the precision in which the device computes f32 by default on this machine: f32, bf16 or f16."""
    return str(ov.Core().get_property(device, "INFERENCE_PRECISION_HINT").get_type_name())


def _measure(
    before: ov.Model, after: ov.Model, inputs: list[Array], exact: list[Array], precision: str, place: Target
) -> ModelMeasurement:
    inferences = [prepare(model, inputs, precision, place) for model in (before, after)]
    pairs = by_turns(inferences[0], inferences[1])
    first, second = map(_outputs, inferences)
    return ModelMeasurement(
        precision,
        (median(one for one, _ in pairs), median(other for _, other in pairs)),
        quartiles([one / other for one, other in pairs]),
        (_shares(before, inputs, precision, place), _shares(after, inputs, precision, place)),
        [array.tobytes() for array in first] == [array.tobytes() for array in second],
        (error(first, exact), error(second, exact)),
    )


def error(outputs: list[Array], exact: list[Array]) -> float:
    """Return the root mean square over all outputs of their relative distances from exact ones; infinite if shapes differ."""
    squares = [_relative(one, other) ** 2 for one, other in zip(outputs, exact, strict=True)]
    return sqrt(sum(squares) / len(squares)) if squares else 0.0


def _relative(output: Array, exact: Array) -> float:
    """Return the distance of an output, relative to the size of the exact one; infinite if NaNs are at different positions."""
    if output.shape != exact.shape or (np.isnan(output) != np.isnan(exact)).any():
        return inf
    have, want = (array[~np.isnan(exact)].astype(np.float64) for array in (output, exact))
    differs = have != want  # infinity minus infinity would be NaN
    size = np.sqrt(np.mean(np.square(want[np.isfinite(want)]))) if np.isfinite(want).any() else 0.0
    distance = np.sqrt(np.square(have[differs] - want[differs]).sum() / max(want.size, 1))
    return float(distance / size if size else distance)


def _outputs(inference: Inference) -> list[Array]:
    inference.run()
    return inference.outputs()


def by_turns(first: Inference, second: Inference, seconds: float | None = None) -> list[tuple[float, float]]:
    """Return the seconds of pairs of inferences, which start alternately with the first and the second."""
    for inference in (first, second):
        inference.run()  # raises errors
    pairs: list[tuple[float, float]] = []
    end = time.perf_counter() + (SECONDS if seconds is None else seconds)
    while len(pairs) < PAIRS or time.perf_counter() < end:
        pairs.append((seconds_of(first.run_here), seconds_of(second.run_here)))
        pairs.append((seconds_of(second.run_here), seconds_of(first.run_here))[::-1])
    return pairs


def _describe(port: Any) -> str:
    return f"{port.get_element_type()} {port.get_partial_shape()}"


def prepare(model: ov.Model, inputs: list[Array], precision: str, place: Target, profile: bool = False) -> Inference:
    """Compile a model for a precision, and return an inference with these inputs."""
    properties = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": place.threads, "PERF_COUNT": profile}
    return Session(ov.Core(), model, place.device, properties).prepare(inputs)


def _shares(model: ov.Model, inputs: list[Array], precision: str, place: Target) -> Mapping[str, float]:
    """Return the fraction of the time per operation type, greatest first. Ours are named; the plugin calls them "Reference"."""
    ours = {node.get_friendly_name(): operation(node) for _, node in walk(model) if operation(node).startswith(CUSTOM_OPSET)}
    inference = prepare(model, inputs, precision, place, profile=True)
    seconds: Counter[str] = Counter()
    for i in range(2 * _PROFILED):
        inference.run()
        for info in inference.profile if i >= _PROFILED else ():
            seconds[ours.get(info.node_name, info.node_type)] += info.real_time.total_seconds()
    total = seconds.total() or 1.0  # some devices report no times
    return {name: value / total for name, value in seconds.most_common()}


def inputs_for(model: ov.Model, given: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """Return one array per Parameter of a model, in order; `given` holds some of them by name.

    Raises ValueError if a name is unknown, an array does not fit its input, or an input cannot be generated.
    """
    names = {name: node for node in model.get_parameters() for name in (*node.output(0).get_names(), node.get_friendly_name())}
    if unknown := sorted(set(given) - set(names)):
        raise ValueError(f"there is no input {', '.join(unknown)}; there are {', '.join(sorted(names))}")
    arrays = {names[name].get_instance_id(): array for name, array in given.items()}
    shapes = {}
    for position, parameter in enumerate(model.get_parameters()):
        name, shape = parameter.get_friendly_name(), parameter.get_partial_shape()
        array = arrays.get(parameter.get_instance_id())
        if shape.rank.is_dynamic and array is None:
            raise ValueError(f"input '{name}' is of open rank: give it by --input {name}=FILE.npy")
        if array is not None and not shape.compatible(ov.PartialShape(list(array.shape))):
            raise ValueError(f"input '{name}' is {shape}, and cannot be {list(array.shape)}")
        sizes = [_size(dim) for dim in shape] if array is None else list(array.shape)
        shapes[position] = ov.PartialShape(sizes)
    closed = model.clone()
    try:
        closed.reshape(shapes)
    except RuntimeError as error:
        tried = ", ".join(map(str, shapes.values()))
        raise ValueError(f"inputs of {tried} do not fit the model; give some by --input: {reason(error)}") from None
    made_up = generate_inputs(closed)
    return [
        arrays.get(parameter.get_instance_id(), made) for parameter, made in zip(model.get_parameters(), made_up, strict=True)
    ]


def _size(dim: ov.Dimension) -> int:
    least, greatest = int(dim.get_min_length()), int(dim.get_max_length())
    return max(least, min(OPEN_SIZE, greatest) if greatest >= 0 else OPEN_SIZE)

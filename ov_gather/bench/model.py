"""A whole model beside another that computes the same, as `accelerate` makes it: time, and which operations take it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import openvino as ov

from ov_gather.acceleration.graph import constant, dims, is_gather, operation, walk
from ov_gather.ops.spec import CUSTOM_OPSET

PAIRS = 10
"""Of inferences that are compared with each other: at least so many, and as many as there are in so many seconds."""
SECONDS = 4.0
_PROFILED = 10
"""Inferences whose operations are timed, after as many that are not."""


@dataclass(frozen=True, slots=True)
class ModelMeasurement:
    """Before and after: median seconds of an inference, and the share of each type of operation in it; how many times faster it
    is, the median of pairs; whether the outputs are the same, bit by bit."""

    seconds: tuple[float, float]
    ratio: float
    shares: tuple[Mapping[str, float], Mapping[str, float]]
    same: bool


def measure(before: ov.Model, after: ov.Model, threads: int) -> ModelMeasurement:
    """Both on the same random inputs, on the CPU plugin. Raises ValueError for inputs that differ or that are not static."""
    if (wanted := list(map(_describe, before.inputs))) != (given := list(map(_describe, after.inputs))):
        raise ValueError(f"the inputs of both models must be the same, but are {wanted} and {given}")
    inputs = list(random_inputs(before))
    requests = [_request(model, inputs, threads) for model in (before, after)]
    pairs = _by_turns(*requests)
    outputs = [[np.array(it.data).tobytes() for it in request.output_tensors] for request in requests]
    return ModelMeasurement(
        (median(first for first, _ in pairs), median(second for _, second in pairs)),
        median(first / second for first, second in pairs),
        (_shares(before, inputs, threads), _shares(after, inputs, threads)),
        outputs[0] == outputs[1],
    )


def _by_turns(first: ov.InferRequest, second: ov.InferRequest) -> list[tuple[float, float]]:
    """Seconds of pairs of inferences, of which now the one is first, now the other."""
    _infer(first), _infer(second)
    pairs: list[tuple[float, float]] = []
    end = time.perf_counter() + SECONDS
    while len(pairs) < PAIRS or time.perf_counter() < end:
        pairs.append((_infer(first), _infer(second)))
        pairs.append((_infer(second), _infer(first))[::-1])
    return pairs


def _infer(request: ov.InferRequest) -> float:
    start = time.perf_counter()
    request.start_async()
    request.wait()
    return time.perf_counter() - start


def _describe(port: Any) -> str:
    return f"{port.get_element_type()} {port.get_partial_shape()}"


def _request(model: ov.Model, inputs: list[ov.Tensor], threads: int, profile: bool = False) -> ov.InferRequest:
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "PERF_COUNT": profile}
    request = ov.Core().compile_model(model, "CPU", config).create_infer_request()
    for i, tensor in enumerate(inputs):
        request.set_input_tensor(i, tensor)
    return request


def _shares(model: ov.Model, inputs: list[ov.Tensor], threads: int) -> Mapping[str, float]:
    """By type, the greatest first. The plugin calls all operations that are not its own "Reference"."""
    ours = {node.get_friendly_name(): operation(node) for _, node in walk(model) if operation(node).startswith(CUSTOM_OPSET)}
    request = _request(model, inputs, threads, profile=True)
    seconds: Counter[str] = Counter()
    for i in range(2 * _PROFILED):
        _infer(request)
        for it in request.profiling_info if i >= _PROFILED else ():
            seconds[ours.get(it.node_name, it.node_type)] += it.real_time.total_seconds()
    return {name: value / seconds.total() for name, value in seconds.most_common()}


def random_inputs(model: ov.Model, seed: int = 0) -> Iterator[ov.Tensor]:
    """Indices in bounds, other integers 0 or 1. Raises ValueError for shapes that are not static, and for strings."""
    limits = _index_limits(model)
    random = np.random.default_rng(seed)
    for parameter in model.get_parameters():
        shape, kind = parameter.get_partial_shape(), parameter.get_element_type()
        name = parameter.get_friendly_name()
        if shape.is_dynamic:
            raise ValueError(f"input '{name}' is {shape}: to be measured, a model must have static shapes")
        try:
            dtype = kind.to_dtype()
        except ValueError:
            raise ValueError(f"input '{name}' is of {kind}, for which there are no random values") from None
        sizes = shape.to_shape()
        if dtype.kind == "f":
            yield ov.Tensor(random.standard_normal(sizes).astype(dtype))
        else:
            yield ov.Tensor(random.integers(0, limits.get(name, 2), sizes).astype(dtype))


def _index_limits(model: ov.Model) -> dict[str, int]:
    """Of inputs from which indices are computed: the least size that these may reach into."""
    limits: dict[str, int] = {}
    for _, node in walk(model):
        if is_gather(node) or node.get_type_name().startswith("Scatter"):
            size = _size(node)
            for name in _integer_inputs(node.input_value(1)):
                limits[name] = min(size, limits.get(name, size))
    return limits


def _size(node: ov.Node) -> int:
    """Along the axis; the least of all where that is not one number."""
    sizes = [dim.get_min_length() for dim in dims(node.input_value(0)) or []]
    axis = node.get_attributes().get("axis")
    if axis is None and node.get_type_name() == "Gather" and (given := constant(node.input_value(2))) is not None:
        axis = int(given.flat[0])
    return max(1, sizes[axis] if sizes and axis is not None else min(sizes, default=1))


def _integer_inputs(value: ov.Output) -> set[str]:
    """The Parameters of integers from which a value is computed by way of integers."""
    names, seen, left = set(), set(), [value.get_node()]
    while left:
        node = left.pop()
        if node.get_instance_id() in seen or not node.get_output_element_type(0).is_integral():
            continue
        seen.add(node.get_instance_id())
        if node.get_type_name() == "Parameter":
            names.add(node.get_friendly_name())
        left += [given.get_node() for given in node.input_values()]
    return names

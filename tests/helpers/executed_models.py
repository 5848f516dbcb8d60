"""IRs executed by OpenVINO in a process of its own: by position and by name, so that a crash is a result like any other.

Each execution fills memory that is allocated with another byte, so that results which depend on memory differ.
"""

import ctypes
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from helpers.worker_process import DiedError, Worker

LIMIT = 30.0
"""Seconds for one model."""
_M_PERTURB = -6  # of mallopt in the C library
_EXECUTIONS = count()


@dataclass(frozen=True)
class Executed:
    """The interface of a model and its outputs, in an order and a form in which two of them can be compared."""

    inputs: tuple[tuple[Any, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    by_position: tuple[bytes, ...]
    by_name: tuple[tuple[str, bytes], ...]


class Executor:
    """A process that executes models, and another one after a crash."""

    def __init__(self) -> None:
        self._worker = Worker(_executed, daemon=True)

    def execute(self, path: Path) -> Executed | None:
        """Execute the .xml at a path; None where OpenVINO refuses it, crashes or takes too long."""
        try:
            return self._worker.call(path, LIMIT)
        except DiedError:
            return None


def _executed(path: Path) -> Executed | None:
    ctypes.CDLL(None).mallopt(_M_PERTURB, next(_EXECUTIONS) % 255 + 1)
    try:
        return _execute(path)
    except Exception:
        return None


def _execute(path: Path) -> Executed:
    import openvino as ov

    core = ov.Core()
    core.set_property({"ENABLE_MMAP": False})
    model = core.read_model(path)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
    request = compiled.create_infer_request()

    def run() -> list[bytes]:
        request.start_async()
        request.wait()
        return [_bytes(request.get_output_tensor(i)) for i in range(len(compiled.outputs))]

    values = []
    for position, port in enumerate(compiled.inputs):
        values.append(_value(port, position))
        request.set_input_tensor(position, ov.Tensor(values[-1]))
    by_position = run()
    by_position += run()  # with the states that the first inference left
    by_name = []
    if all(port.names for port in compiled.inputs):
        for port in compiled.inputs:
            name = min(port.names)
            request.set_tensor(name, ov.Tensor(_value(port, sha256(name.encode()).digest()[0])))
        for port, output in zip(compiled.outputs, run(), strict=True):
            by_name += [(name, output) for name in sorted(port.names)]
    return Executed(_ports(model.inputs), _ports(model.outputs), tuple(by_position), tuple(by_name))


def _ports(ports: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        (sorted(port.names), _friendly_name(port), str(port.get_element_type()), str(port.get_partial_shape()))
        for port in ports
    )


def _friendly_name(port: Any) -> str:
    """The name that applications know: that of the Parameter, or of the layer that feeds the Result."""
    node = port.get_node()
    source = node.input_value(0).get_node() if node.get_type_name() == "Result" else node
    return str(source.get_friendly_name())


def _value(port: Any, seed: int) -> np.ndarray[Any, Any]:
    """Return numbers for an input; whole ones are 0, which is in bounds of every axis that has elements."""
    shape = [dim.get_length() if dim.is_static else 2 for dim in port.get_partial_shape()]
    if np.prod(shape) > 1 << 20:
        raise ValueError("too large")
    generator = np.random.default_rng(seed)
    dtype = port.get_element_type().to_dtype()
    numbers = generator.standard_normal(shape) if np.dtype(dtype).kind == "f" else np.zeros(shape)
    return numbers.astype(dtype)


def _bytes(tensor: Any) -> bytes:
    if tensor.element_type.get_type_name() == "string":
        return repr(tensor.str_data.tolist()).encode()
    return f"{tensor.element_type} {tensor.shape} ".encode() + tensor.data.tobytes()

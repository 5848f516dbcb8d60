"""Asynchronous execution on OpenVINO with NumPy arrays of every element type: sub-byte types, strings, bf16.

Errors are converted to ours. With one thread, synchronous inference swallows errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from ov_gather.extension import reason
from ov_gather.graph.openvino import bodies
from ov_gather.ir.element_types import STRING, ElementType, by_name
from ov_gather.ir.weights import pack_bits, unpack_bits
from ov_gather.runtimes.base import NESTED_IFS, OutOfBoundsError, RefusedError
from ov_gather.system.traversal import reachable

_IN_F32 = {"INFERENCE_PRECISION_HINT": "f32"}
_LONGEST_REASON = 200
# The first two are messages of our operations, the others of OpenVINO's GatherElements and scatters.
_OUT_OF_BOUNDS = (
    "is out of bounds for axis",
    "an index was out of bounds",
    "indices values of GatherElement exceed data size",
    "indices value that points to non-existing output tensor element",
    "indices contain values that points to non-existing data tensor element",
)


class Session:
    """A compiled model. It is thread-safe: each call uses an idle infer request, or a new one."""

    def __init__(
        self, core: ov.Core, model: ov.Model, device: str = "CPU", properties: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Compile a model, in f32 unless the properties set another precision. Raises RefusedError."""
        if (depth := _depth_of_ifs(model)) > NESTED_IFS:
            raise RefusedError(f"{depth} If are nested, and OpenVINO takes twice as long to compile for each more")
        with _refusing():
            self._compiled = core.compile_model(model, device, {**_IN_F32, **properties})
            self._idle: SimpleQueue[ov.InferRequest] = SimpleQueue()
            self._idle.put(self._compiled.create_infer_request())

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that execute the model, such as CPU or GPU; without numbers, as in GPU.1."""
        return tuple(device.partition(".")[0] for device in self._compiled.get_property("EXECUTION_DEVICES"))

    def __call__(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the model once. Inputs and outputs are in its order, because compiling may drop names.

        Raises OutOfBoundsError for an index out of bounds, and RefusedError if OpenVINO fails for another reason.
        """
        request = self._take()
        try:
            inference = Inference(request, self._tensors(arrays))
            inference.run()
            return inference.outputs()
        finally:
            self._idle.put(request)

    def prepare(self, arrays: Sequence[NDArray[Any]]) -> Inference:
        """Return an inference of these inputs that can run repeatedly and shares their memory. Raises RefusedError."""
        return Inference(self._take(), self._tensors(arrays))

    def _take(self) -> ov.InferRequest:
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._compiled.create_infer_request()

    def _tensors(self, arrays: Sequence[NDArray[Any]]) -> list[ov.Tensor]:
        ports = self._compiled.inputs
        return [to_tensor(array, element_type_of(port)) for port, array in zip(ports, arrays, strict=True)]


class Inference:
    """An infer request with its inputs set."""

    def __init__(self, request: ov.InferRequest, tensors: Sequence[ov.Tensor]) -> None:
        # A request holds no references to its tensors or their arrays, which must outlive the inference.
        self._request, self._tensors = request, tensors
        with _refusing():
            for position, tensor in enumerate(tensors):
                request.set_input_tensor(position, tensor)

    def run(self) -> None:
        """Infer and wait for completion. Raises OutOfBoundsError, RefusedError."""
        self.start()
        self.wait()

    def start(self) -> None:
        """Start inferring. Raises RefusedError."""
        with _refusing():
            self._request.start_async()

    def wait(self) -> None:
        """Wait for completion. Raises OutOfBoundsError, RefusedError."""
        with _refusing():
            self._request.wait()

    def run_here(self) -> None:
        """Infer on the calling thread, for timing. With one thread, OpenVINO swallows errors: call `run` first.

        Unlike `run`, this wakes no other thread. The three wake-ups of `run` take 3 to 90 us, depending on the cores that the
        threads are on.
        """
        self._request.infer(share_outputs=True)

    def outputs(self) -> list[NDArray[Any]]:
        """Return copies of the outputs of the last run."""
        ports = self._request.model_outputs
        return [
            to_array(tensor, element_type_of(port)) for tensor, port in zip(self._request.output_tensors, ports, strict=True)
        ]

    @property
    def profile(self) -> list[ov.ProfilingInfo]:
        """The time of each operation in the last run, if the model was compiled with PERF_COUNT."""
        return list(self._request.profiling_info)


def _depth_of_ifs(model: ov.Model) -> int:
    """Return the maximum nesting depth of If."""

    def inside(place: tuple[ov.Model, int]) -> list[tuple[ov.Model, int]]:
        graph, depth = place
        return [(body, depth + (node.get_type_name() == "If")) for node in graph.get_ops() for body in bodies(node)]

    return max(depth for _, depth in reachable([(model, 0)], inside, lambda place: place[0].get_name()))


@contextmanager
def _refusing() -> Iterator[None]:
    """Convert errors of OpenVINO to RefusedError, which names the layer if OpenVINO does."""
    try:
        yield
    except RuntimeError as error:
        raise _refusal(error) from None


def _refusal(error: RuntimeError) -> RefusedError:
    is_index = any(words in str(error) for words in _OUT_OF_BOUNDS)
    return (OutOfBoundsError if is_index else RefusedError)(reason(error)[:_LONGEST_REASON])


def element_type_of(port: Any) -> ElementType:
    """Return the element type of a port of OpenVINO. Raises RefusedError."""
    found = by_name(port.get_element_type().get_type_name())
    if found is None:
        raise RefusedError(f"element type {port.get_element_type()} is unknown to ov-gather")
    return found


def to_tensor(array: NDArray[Any], element_type: ElementType) -> ov.Tensor:
    """Return a tensor that shares the array's memory if possible. Raises RefusedError if the dtype does not match."""
    if array.dtype != element_type.dtype and not (element_type is STRING and array.dtype.kind in "UT"):
        raise RefusedError(f"an input of {element_type} cannot be {array.dtype}")
    if not array.size:  # OpenVINO before 2026 cannot wrap empty arrays
        return ov.Tensor(getattr(ov.Type, element_type.name), list(array.shape))
    if element_type is STRING:
        return ov.Tensor(array.astype(str))
    if element_type.bits % 8:
        carried = np.frombuffer(pack_bits(array, element_type.bits), np.uint8)
    else:
        carried = np.ascontiguousarray(array).view(f"u{element_type.bits // 8}")
    return ov.Tensor(carried, list(array.shape), getattr(ov.Type, element_type.name))


def to_array(tensor: ov.Tensor, element_type: ElementType) -> NDArray[Any]:
    """Return a copy of the elements of a tensor."""
    if element_type is STRING:
        return np.array(tensor.str_data, object)
    if element_type.bits % 8:
        packed = np.array(tensor.data).view(np.uint8).ravel()
        elements = unpack_bits(packed, element_type.bits, tensor.size)
        return elements.view(element_type.dtype).reshape(tuple(tensor.shape))
    return np.array(tensor.data).view(element_type.dtype)

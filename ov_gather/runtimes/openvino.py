"""The OpenVINO CPU runtime, stock and with our extension.

Asynchronous, as its synchronous infer swallows errors on one thread; and without bf16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from ov_gather.extension import register
from ov_gather.ir import element_types
from ov_gather.ir.element_types import STRING, ElementType
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.weights import pack_bits, unpack_bits
from ov_gather.ir.writer import to_bytes
from ov_gather.ops import find_operation
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.runtimes.base import RefusedError, Runtime


class OpenVINORuntime(Runtime[Model | Path]):
    """Reads an IR, or what our writer makes of a model, compiles it for the CPU plugin and infers."""

    name = "openvino"

    @property
    def version(self) -> str:
        """OpenVINO's, without the build number."""
        return str(ov.get_version()).split("-")[0]

    def activate(self, model: Model | Path, threads: int = 0) -> None:
        """Write (a Model), read and compile. Raises RefusedError with what OpenVINO says."""
        core = self._core()
        self._model = self._read(core, model)
        config = CONFIG | ({"INFERENCE_NUM_THREADS": threads} if threads else {})
        try:
            self._request = core.compile_model(self._model, "CPU", config).create_infer_request()
        except RuntimeError as error:
            raise RefusedError(reason(error)) from None

    def _core(self) -> Any:
        return _stock_core()

    def _read(self, core: Any, model: Model | Path) -> Any:
        return _read(core, model)

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Infer once. Raises RefusedError with what OpenVINO says."""
        # A request does not keep its tensors, nor the arrays whose memory they use: they must outlive the inference.
        tensors = [to_tensor(array, element_type_of(port)) for port, array in zip(self._model.inputs, inputs, strict=True)]
        try:
            for i, tensor in enumerate(tensors):
                self._request.set_input_tensor(i, tensor)
            self._request.start_async()
            self._request.wait()
        except RuntimeError as error:
            raise RefusedError(reason(error)) from None
        return [
            to_array(self._request.get_output_tensor(i), element_type_of(port)) for i, port in enumerate(self._model.outputs)
        ]


class ExtensionRuntime(OpenVINORuntime):
    """The same with our extension: layers for which it has an operation become that."""

    name = "extension"

    def activate(self, model: Model | Path, threads: int = 0) -> None:
        """Write (a Model), read and compile. Raises RefusedError with what OpenVINO says."""
        if isinstance(model, Model):
            model = replace(model, layers=tuple(map(_customized, model.layers)))
        super().activate(model, threads)

    def _core(self) -> Any:
        return core_with_extension()


def _customized(layer: Layer) -> Layer:
    operation = find_operation(layer)
    if operation is None or operation.custom_attributes is None:
        return layer
    return replace(layer, version=CUSTOM_OPSET, attributes={**layer.attributes, **operation.custom_attributes})


def read_model(model: Model) -> Any:
    """The `openvino.Model` that OpenVINO's reader makes of the IR that our writer makes. Raises RefusedError."""
    return _read(_stock_core(), model)


def _read(core: Any, model: Model | Path) -> Any:
    try:
        if isinstance(model, Path):
            return core.read_model(model)
        xml, binary = to_bytes(model)
        return core.read_model(model=xml, weights=binary)
    except RuntimeError as error:
        raise RefusedError(reason(error)) from None


CONFIG = {"INFERENCE_PRECISION_HINT": "f32"}


@cache
def _stock_core() -> Any:
    return ov.Core()


@cache
def core_with_extension() -> Any:
    """A core that our operations are registered with."""
    return register(ov.Core())


def element_type_of(port: Any) -> ElementType:
    """The element type of a port of OpenVINO. Raises RefusedError."""
    found = element_types.by_name(port.get_element_type().get_type_name())
    if found is None:
        raise RefusedError(f"element type {port.get_element_type()} is unknown to ov-gather")
    return found


def to_tensor(array: NDArray[Any], element_type: ElementType) -> Any:
    """A tensor that uses the memory of the array where it can. Raises RefusedError where that does not hold `element_type`."""
    if array.dtype != element_type.dtype and not (element_type is STRING and array.dtype.kind in "UT"):
        raise RefusedError(f"an input of {element_type} cannot be {array.dtype}")
    if element_type is STRING:
        return ov.Tensor(array.astype(str))
    if element_type.bits % 8:
        carried = np.frombuffer(pack_bits(array, element_type.bits), np.uint8)
    else:
        carried = np.ascontiguousarray(array).view(f"u{element_type.bits // 8}")
    return ov.Tensor(carried, list(array.shape), getattr(ov.Type, element_type.name))


def to_array(tensor: Any, element_type: ElementType) -> NDArray[Any]:
    """A copy of what a tensor of OpenVINO holds."""
    if element_type is STRING:
        return np.array(tensor.str_data, object)
    if element_type.bits % 8:
        packed = np.array(tensor.data).view(np.uint8).ravel()
        elements = unpack_bits(packed, element_type.bits, tensor.size)
        return elements.view(element_type.dtype).reshape(tuple(tensor.shape))
    return np.array(tensor.data).view(element_type.dtype)


def reason(error: RuntimeError) -> str:
    """The last line of OpenVINO's message that is not a place in its sources."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Exception from", "Check '"))]
    return (telling or lines or ["no reason given"])[-1][:200]

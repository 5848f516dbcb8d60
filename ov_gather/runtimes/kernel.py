"""Our kernel as a runtime, and `execute` for single layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import by_dtype
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.kernels.native import set_num_threads
from ov_gather.ops import find_operation
from ov_gather.ops.fields import OperationError
from ov_gather.ops.spec import Operation
from ov_gather.ops.table import ENDS
from ov_gather.runtimes.base import RefusedError, Runtime


def execute(layer: Layer, inputs: Sequence[ArrayLike]) -> list[NDArray[Any]]:
    """Execute one layer of the gather family on our kernel, or of an operation that a user declares by its reference.

    Args:
        layer: a layer of a Model from `read_ir`, e.g. `read_ir("layer.xml").layers[0]`.
        inputs: the arrays for its input ports, in order. Shapes must match those declared by the ports, and dtypes must be
            ones that the operation accepts; the precision declared by a port is not enforced.

    Returns:
        The arrays of its output ports.

    Raises:
        IndexError: an index is out of bounds.
        TypeError: the operation does not accept the dtype of an input; `layer` is no Layer, or `inputs` are no list.
        ValueError: the layer is not of the gather family, an attribute is missing or malformed, or shapes do not fit.

    Source: the operation's page of the OpenVINO IR specification.
    """
    if not isinstance(layer, Layer):
        raise TypeError(f"execute: layer must be a Layer such as read_ir(path).layers[0], not {type(layer).__name__}")
    if not isinstance(inputs, Sequence | np.ndarray) or isinstance(inputs, str | bytes):
        raise TypeError(f"execute: inputs must be a list of arrays, not {type(inputs).__name__}")
    operation = find_operation(layer)
    if operation is None:
        raise ValueError(f"{layer} of version '{layer.version}' is not a gather-family operation")
    arrays = [np.asarray(array) for array in inputs]
    _check_inputs(operation, layer, arrays)
    shapes = [PartialShape.of(array.shape) for array in arrays]
    try:
        attributes = operation.read_attributes(layer.attributes, shapes, arrays)
    except OperationError:  # it has its own place
        raise
    except ValueError as error:
        raise ValueError(f"{layer}: {error}") from None
    operation.infer_shapes(shapes, attributes)
    return list((operation.evaluate or operation.reference)(arrays, attributes))


def _check_inputs(operation: Operation, layer: Layer, arrays: Sequence[NDArray[Any]]) -> None:
    if len(arrays) != len(operation.inputs) or len(layer.inputs) != len(operation.inputs):
        names = ", ".join(given.name for given in operation.inputs)
        raise ValueError(f"{layer}: {len(arrays)} inputs for {len(layer.inputs)} ports; {operation.name} takes {names}")
    for given, port, array in zip(operation.inputs, layer.inputs, arrays, strict=True):
        native = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
        if given.element_types and by_dtype(native) not in given.element_types:
            allowed = " or ".join(map(str, given.element_types))
            raise TypeError(f"{layer}: {given.name} must be {allowed}, not {array.dtype}")
        if array.shape not in port.shape:
            raise ValueError(f"{layer}: {given.name} has shape {list(array.shape)}, its port declares {port.shape}")


class KernelRuntime(Runtime[Model]):
    """A runtime for models that consist of gather-family layers, Parameters, Consts and Results."""

    name = "kernel"

    @property
    def version(self) -> str:
        """The version of this package."""
        from importlib.metadata import version

        return version("ov-gather")

    def activate(self, model: Model, threads: int = 0) -> None:
        """Load a model whose layers are in topological order. `threads`, unless 0, sets the threads of this whole process."""
        if threads:
            set_num_threads(threads)
        for layer in model.layers:
            if layer.type not in ENDS and find_operation(layer) is None:
                raise RefusedError(f"{layer} is not a gather-family operation")
        self._model = model

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute all layers in order.

        Raises IndexError for an index out of bounds, and RefusedError for types and shapes that the kernel does not take.
        """
        values: dict[tuple[int, int], NDArray[Any]] = {}
        given = iter(inputs)
        results = []
        for layer in self._model.layers:
            producers = (self._model.producer(layer, port) for port in layer.inputs)
            arguments = [values[source.id, port.id] for source, port in filter(None, producers)]
            if layer.type == "Result":
                results += arguments
                continue
            if layer.type == "Parameter":
                outputs = [next(given)]
            elif layer.type == "Const":
                outputs = [constant(self._model, layer)]
            else:
                outputs = _executed(layer, arguments)
            values |= {(layer.id, port.id): value for port, value in zip(layer.outputs, outputs, strict=True)}
        return results


def _executed(layer: Layer, arguments: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    try:
        return execute(layer, arguments)
    except OperationError:  # a declaration is wrong, which is no result
        raise
    except (TypeError, ValueError) as error:
        raise RefusedError(str(error)) from None

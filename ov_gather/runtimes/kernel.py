"""Our kernel as a runtime, and `execute`: one layer on it."""

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
from ov_gather.ops.spec import Operation
from ov_gather.runtimes.base import RefusedError, Runtime


def execute(layer: Layer, inputs: Sequence[ArrayLike]) -> list[NDArray[Any]]:
    """Execute one gather-family layer on our kernel.

    Args:
        layer: a layer of a Model that `read_ir` gave, e.g. `read_ir("layer.xml").layers[0]`.
        inputs: the arrays for its input ports, in order. Shapes must be among those that the ports declare, and dtypes those
            that the operation takes; the precision that a port declares is not enforced.

    Returns:
        The arrays of its output ports.

    Raises:
        IndexError: an index is out of bounds.
        TypeError: an input's dtype is not one that the operation takes.
        ValueError: the layer is not of the gather family, an attribute is missing or malformed, or shapes do not fit.

    Source: the operation's page of the OpenVINO IR specification.
    """
    operation = find_operation(layer)
    if operation is None:
        raise ValueError(f"{layer} of version '{layer.version}' is not a gather-family operation")
    arrays = [np.asarray(array) for array in inputs]
    _check_inputs(operation, layer, arrays)
    shapes = [PartialShape.of(array.shape) for array in arrays]
    attributes = operation.read_attributes(layer.attributes, shapes, arrays)
    operation.infer_shapes(shapes, attributes)
    return list(operation.evaluate(arrays, attributes))


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
    """Executes models that are made of gather-family layers, Parameters, Consts and Results."""

    name = "kernel"

    @property
    def version(self) -> str:
        """The version of this package."""
        from importlib.metadata import version

        return version("ov-gather")

    def activate(self, model: Model, threads: int = 0) -> None:
        """Load a model whose layers stand in topological order. A number of threads is this process's from now on."""
        if threads:
            set_num_threads(threads)
        for layer in model.layers:
            if layer.type not in ("Parameter", "Const", "Result") and find_operation(layer) is None:
                raise RefusedError(f"{layer} is not a gather-family operation")
        self._model = model

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute layer by layer. Raises IndexError for an index out of bounds."""
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
                outputs = execute(layer, arguments)
            values |= {(layer.id, port.id): value for port, value in zip(layer.outputs, outputs, strict=True)}
        return results

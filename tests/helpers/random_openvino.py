"""The emitter of random graphs as models of OpenVINO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino as ov
from openvino import Output, opset16

from helpers.random_graphs import INTEGERS, LARGEST_SIZE, Builder, Dim, Given, Inputs, Value


@dataclass(frozen=True)
class Inner:
    """A gather in a body, along axis 0 of data outside. Its indices are listed in an output outside, too.

    when: is true where the body has run; None where the output says so itself.
    """

    name: str
    index: Output
    data: Output
    when: Output | None = None


@dataclass
class Sample(Inputs):
    """A random model, of OpenVINO or of ONNX, with what one needs to make inputs for it."""

    model: Any
    inner: list[Inner]


class OpenvinoBuilder(Builder):
    """A Builder of operations of OpenVINO."""

    binaries = (*Builder.binaries, "squared_difference")
    pad_modes = (*Builder.pad_modes, "symmetric")
    scatters = ("none", "sum", "prod", "min", "max", "mean")
    tuple_scatters = ("none", "sum", "sub", "prod", "min", "max")

    def __init__(self, rng: np.random.Generator, sizes: dict[str, tuple[int, int]]) -> None:
        super().__init__(rng, sizes)
        self.parameters: list[ov.Node] = []
        self.sinks: list[ov.Node] = []
        self.variables: list[Any] = []
        self.inner: list[Inner] = []
        self._unnamed = 0

    def parameter(self, kind: str, dims: Sequence[Dim], name: str = "") -> Value:
        name = name or f"x{len(self.parameters)}"
        shape = ov.PartialShape([self._declared(dim) for dim in dims])
        node = opset16.parameter(shape, getattr(ov.Type, kind), name=name)
        node.output(0).set_names({name})
        self.inputs.append(Given(name, kind, tuple(dims)))
        self.parameters.append(node)
        return self.offer(self.known(node.output(0), dims))

    def _declared(self, dim: Dim) -> ov.Dimension:
        if isinstance(dim, int):
            return ov.Dimension(dim)
        low, high = self.sizes.get(dim, (0, LARGEST_SIZE))
        return ov.Dimension(-1) if (low, high) == (0, LARGEST_SIZE) else ov.Dimension(low, high)

    def known(self, output: Output, dims: Sequence[Dim] = ()) -> Value:
        """Name the dimensions of an output, by those given where OpenVINO does not know them."""
        found: list[Dim] = []
        for position, dim in enumerate(output.get_partial_shape()):
            if dim.is_static:
                found.append(dim.get_length())
            elif position < len(dims) and isinstance(dims[position], str):
                found.append(dims[position])
            else:
                self._unnamed += 1
                found.append(f"?{self._unnamed}")
        return Value(output, str(output.get_element_type().get_type_name()), tuple(found))

    def constant(self, elements: Any, kind: str) -> Value:
        array = self.cast(elements, getattr(ov.Type, kind).to_dtype())
        return Value(opset16.constant(array).output(0), kind, array.shape)

    def outputs(self, name: str, *operands: Any, dims: Sequence[Dim] | None = None, opset: Any = None) -> list[Value]:
        if dims is None:
            dims = max((one.dims for one in operands if isinstance(one, Value)), key=len, default=())
        node = getattr(opset or opset16, name)(*map(_handle, operands))
        return [self.known(output, dims) for output in node.outputs()]

    def elements(self, value: Value, kind: str) -> Value:
        """Return the number of elements of a value."""
        return self.make("reduce_prod", self.make("shape_of", value, kind), self.longs(0), False, dims=())

    def size_of(self, value: Value, axis: int, kind: str = "") -> Value:
        if self.chance(0.75):
            return super().size_of(value, axis, kind)
        shape = self.make("shape_of", value, kind or self.pick(*INTEGERS))
        size = self.make("strided_slice", shape, *map(self.longs, (axis, axis + 1, 1)), [0], [0], [], [1], [], dims=())
        self.counts.append(size)
        return size


def _handle(operand: Any) -> Any:
    if isinstance(operand, list):
        return [_handle(one) for one in operand]
    return operand.handle if isinstance(operand, Value) else operand

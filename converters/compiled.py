"""The callable that `compile_onnx` returns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray

from ov_gather.extension import reason
from ov_gather.ir.element_types import I64, STRING, U64
from ov_gather.kernels.tensors import as_array
from ov_gather.runtimes.base import OutOfBoundsError
from ov_gather.runtimes.openvino import core_with_extension
from ov_gather.runtimes.session import Session, element_type_of

from .calls import CallPort, Outputs, arrays_by_name
from .errors import ConversionError
from .lane_types import LANE_TYPES, as_lanes, from_lanes
from .passes.lanes import LaneInterface
from .repairs import repair_faults

_INT32 = np.iinfo(np.int32)


class CompiledModel:
    """A compiled ONNX model. Several threads may call it at once.

    Attributes:
        inputs: declared inputs, in the order of positional arrays.
        outputs: declared outputs, in order.
    """

    def __init__(
        self,
        model: openvino.Model,
        inputs: Sequence[CallPort],
        outputs: Sequence[CallPort],
        travel: LaneInterface,
        carried: Mapping[str, NDArray[Any]],
        index_inputs: Collection[str],
        unread_inputs: Collection[str],
        bounds: Collection[str],
        device: str,
    ) -> None:
        """Wrap a model from `read`, and compile it now if the ranks of all its values are static.

        `inputs` and `outputs` are those of the ONNX model, `travel` lists those in lanes, and `carried` feeds inputs that
        replace constants. 64-bit values beyond int32 raise IndexError for `index_inputs`, are clamped for `bounds` (of Slices),
        are allowed for `unread_inputs` (only their shape matters), and raise ValueError otherwise. Proved bounds do not make
        these checks redundant: OpenVINO would truncate an index to 32 bits and read another element.
        """
        self._model, self._device = model, device
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self._carried, self._index_inputs, self._unread_inputs = carried, index_inputs, unread_inputs
        self._bounds = bounds
        self._ports = {port.get_node().get_friendly_name(): port for port in model.inputs}
        self._names = [port.name for port in inputs]
        self._travel = travel
        self._in_lanes = {name: (lanes, kind) for lanes, (name, kind) in travel.inputs.items() if lanes in self._ports}
        self._needed = [name for name in self._names if name in self._ports or name in self._in_lanes]
        values = (port for node in model.get_ops() for port in node.outputs())
        self._needs_shapes = any(port.get_partial_shape().rank.is_dynamic for port in values)
        self._session_for = lru_cache(maxsize=16)(self._compile)
        if not self._needs_shapes:
            self._session_for(())

    def __call__(self, /, *arrays: Any, **named: Any) -> Outputs:
        """Execute the model.

        Args:
            arrays: a dict with an array for each input, by name; or the arrays, in the order of `inputs`.
            named: arrays by the names of inputs.

        An array is an array-like of NumPy, or a tensor that supports DLPack. It has exactly the element type of its input
        (string: objects or `str`), in any byte order, and a shape that the input allows. Inputs that no output depends on may
        be left out; arrays given for them are ignored.

        Returns:
            A dict with an array for each output, of its ONNX element type; integer positions also work as keys.

        Raises:
            IndexError: an index is out of bounds.
            TypeError, ValueError: names, types or shapes are wrong, or an integer does not fit in the 32 bits that OpenVINO
                computes with.
            RuntimeError: any other error of OpenVINO.
        """
        inputs = arrays_by_name(self._names, self._needed, arrays, named)
        arrays_given = {name: np.asarray(as_array(f"input '{name}'", inputs[name])) for name in self._needed}
        # In the byte order of this machine.
        given = {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays_given.items()}
        for name, array in given.items():
            if name in self._bounds and array.dtype == np.int64:
                given[name] = array = np.clip(array, _INT32.min, _INT32.max)
            if name in self._ports:
                self._check(name, array)
            else:
                self._check_lanes(name, array)
        given |= self._carried
        given |= {lanes: as_lanes(given[name]) for name, (lanes, _) in self._in_lanes.items()}
        ordered = [given[name] for name in self._ports]
        shapes = tuple(array.shape for array in ordered) if self._needs_shapes else ()
        try:
            outputs = self._session_for(shapes)(ordered)
        except OutOfBoundsError as error:
            raise IndexError(str(error)) from None
        for position, kind in self._travel.positions.items():
            outputs[position] = from_lanes(outputs[position], kind.numpy())
        return Outputs(zip((port.name for port in self.outputs), outputs, strict=True))

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        return f"<CompiledModel on {self._device}: ({inputs}) -> ({outputs})>"

    def _check_lanes(self, name: str, array: NDArray[Any]) -> None:
        """Check the type and shape of an input that the converted model takes in lanes."""
        lanes, kind = self._in_lanes[name]
        if array.dtype != kind.numpy():
            raise TypeError(f"input '{name}' must be {kind.numpy()}, not {array.dtype}")
        shape = self._ports[lanes].get_partial_shape()
        if shape.rank.is_static:
            dims = list(shape)[: len(shape) - len(LANE_TYPES[kind].dims)]
            _check_shape(name, openvino.PartialShape(dims), array)

    def _check(self, name: str, array: NDArray[Any]) -> None:
        element_type, shape = element_type_of(self._ports[name]), self._ports[name].get_partial_shape()
        if array.dtype != element_type.dtype and not (element_type is STRING and array.dtype.kind == "U"):
            raise TypeError(f"input '{name}' must be {element_type.dtype}, not {array.dtype}")
        _check_shape(name, shape, array)
        if element_type not in (I64, U64) or name in self._unread_inputs or not array.size:
            return
        if array.min() < _INT32.min or array.max() > _INT32.max:
            at = np.unravel_index(np.argmax((array < _INT32.min) | (array > _INT32.max)), array.shape)
            error = IndexError if name in self._index_inputs else ValueError
            place = f"{name}[{', '.join(map(str, at))}]"
            raise error(f"{place} = {array[at]} does not fit in int32, in which OpenVINO computes")

    def _compile(self, shapes: tuple[tuple[int, ...], ...]) -> Session:
        """Compile for these shapes, one per input; for all shapes if empty."""
        model = self._model
        try:
            if shapes:
                model = model.clone()
                model.reshape(dict(enumerate(map(list, shapes))))
                repair_faults(model)  # which may show only now
            return Session(core_with_extension(), model, self._device)
        except RuntimeError as error:
            known = [str(fault) for fault in repair_faults(model)[1]]
            raise ConversionError("; ".join([f"OpenVINO cannot compile it: {reason(error)}", *known])) from None


def _check_shape(name: str, shape: openvino.PartialShape, array: NDArray[Any]) -> None:
    if not shape.compatible(openvino.PartialShape(list(array.shape))):
        raise ValueError(f"input '{name}' must have shape {shape}, not {list(array.shape)}")

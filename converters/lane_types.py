"""Lanes: integers that hold the bytes of numbers which OpenVINO's CPU plugin would change.

The plugin computes 64-bit numbers in 32 bits, lacks complex numbers, and makes signalling NaNs of float16 quiet; Expand and
Loop do so to bfloat16, too. For other types it changes only constants. A 64-bit number becomes two int32 along an additional
last dimension, a complex128 four. A smaller number becomes one integer, and the shape stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import ArrayLike, DTypeLike, NDArray
from onnx_ir import DataType


@dataclass(frozen=True, slots=True)
class LaneType:
    """The lanes of one element type.

    Attributes:
        lane: element type of a lane.
        count: number of lanes per number; with one lane the shape stays.
    """

    lane: DataType
    count: int

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimension that lanes append to a shape, if any."""
        return () if self.count == 1 else (self.count,)


LANE_TYPES: Mapping[DataType, LaneType] = {
    DataType.INT64: LaneType(DataType.INT32, 2),
    DataType.UINT64: LaneType(DataType.INT32, 2),
    DataType.DOUBLE: LaneType(DataType.INT32, 2),
    DataType.COMPLEX64: LaneType(DataType.INT32, 2),
    DataType.COMPLEX128: LaneType(DataType.INT32, 4),
    DataType.FLOAT16: LaneType(DataType.INT16, 1),
    DataType.BFLOAT16: LaneType(DataType.INT16, 1),
    DataType.FLOAT: LaneType(DataType.INT32, 1),
    DataType.UINT32: LaneType(DataType.INT32, 1),
}
"""Lanes by element type. OpenVINO moves every other type unchanged."""

CHANGED = frozenset(LANE_TYPES) - {DataType.FLOAT, DataType.UINT32}
"""Types whose inputs the plugin changes, not only their constants."""


def as_lanes(array: ArrayLike) -> NDArray[Any]:
    """Return the lanes of an array, for an input of a model that was converted with lanes.

    Args:
        array: int64, uint64, float64, complex64, complex128, float16, bfloat16, float32 or uint32, in any byte order.

    Returns:
        int32 with one more dimension of 2 (complex128: 4) at the end; for 32-bit types int32, for 16-bit types int16, of the
            array's shape. A view if the array is contiguous and in the byte order of this machine.

    Raises:
        TypeError: the element type has no lanes.
    """
    array = np.asarray(array)
    native = array.dtype.newbyteorder("=")
    lanes = _lane_type(native)
    contiguous = np.ascontiguousarray(array, native)
    return contiguous.reshape(-1).view(lanes.lane.numpy()).reshape((*array.shape, *lanes.dims))


def from_lanes(lanes: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """Return the numbers of an output of a model that was converted with lanes.

    Args:
        lanes: OpenVINO's result, of the type and shape that `as_lanes` returns.
        dtype: element type of the numbers; the model's `rt_info` names it.

    Returns:
        An array of `dtype`, without the dimension of the lanes; a view if the lanes are contiguous.

    Raises:
        TypeError: the element type has no lanes.
        ValueError: the lanes have the wrong type, or their last dimension the wrong size.
    """
    lanes, dtype = np.asarray(lanes), np.dtype(dtype)
    kind = _lane_type(dtype)
    shape = lanes.shape[: lanes.ndim - len(kind.dims)]
    if lanes.dtype != kind.lane.numpy() or lanes.shape != (*shape, *kind.dims):
        behind = f", the last dimension {kind.count}" if kind.dims else ""
        raise ValueError(f"lanes of {dtype} must be {kind.lane.numpy()}{behind}, not {lanes.dtype}{list(lanes.shape)}")
    return np.ascontiguousarray(lanes).reshape(-1).view(dtype).reshape(shape)


def _lane_type(dtype: np.dtype[Any]) -> LaneType:
    found = next((kind for known, kind in LANE_TYPES.items() if known.numpy() == dtype), None)
    if found is None:
        raise TypeError(f"{dtype} does not travel in lanes; {', '.join(str(known.numpy()) for known in LANE_TYPES)} do")
    return found


def tensor_in_lanes(tensor: onnx_ir.TensorProtocol, name: str) -> onnx_ir.TensorProtocol:
    """Return a constant in lanes. External data is reused: its bytes are the lanes."""
    kind = LANE_TYPES[tensor.dtype]
    shape = onnx_ir.Shape([*tensor.shape.numpy(), *kind.dims])
    if isinstance(tensor, onnx_ir.ExternalTensor):
        return onnx_ir.ExternalTensor(
            tensor.location, tensor.offset, tensor.length, kind.lane, shape=shape, name=name, base_dir=tensor.base_dir
        )
    return onnx_ir.tensor(as_lanes(tensor.numpy()), name=name)

"""The nodes of a random ONNX model of index arithmetic so far.

Each node is executed as soon as it is made, alone and by onnxruntime, so that nothing folds it: its results are the oracle.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from helpers.random_indices import Dim, Given
from helpers.random_onnx import Builder

OPSET = 21
TYPES = {
    **{"i64": "int64", "i32": "int32", "boolean": "bool", "f32": "float32"},
    **{"u8": "uint8", "i8": "int8", "i16": "int16", "u16": "uint16", "u32": "uint32", "u64": "uint64"},
}
INTEGERS = ("i64", "i64", "i64", "i64", "i32", "i32", "i32", "u8", "i8", "i16", "u16", "u32", "u64")
ANY = (*INTEGERS, "boolean", "boolean", "f32")


class Arithmetic(Builder):
    """A Builder whose constants are operands like any other, and whose values all fit in 32 bits."""

    def kind(self, name: str) -> str:
        return next(kind for kind, dtype in TYPES.items() if dtype == str(self.values[name].dtype))

    def array(self, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        dtype = np.dtype(TYPES[kind])
        if dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(dtype)
        if dtype.kind == "f":
            return (self.rng.integers(-20, 21, shape) / self.pick(1, 2, 4)).astype(dtype)
        low, high = (0, 8) if dtype.kind == "u" else (-7, 8)
        found = self.rng.integers(low, high, shape).astype(dtype)
        if self.chance(0.1):
            limits = np.iinfo(np.int32 if dtype.itemsize > 4 or dtype == np.uint32 else dtype)
            least, odd = limits.min if dtype.kind == "i" else 0, 2**24 + 1 if dtype.itemsize > 2 else 1
            nasty = [least, limits.max, limits.max - 1, 100, odd]
            found = np.where(self.rng.random(shape) < 0.5, np.array(self.pick(*nasty), dtype), found)
        return np.asarray(found, dtype)

    def given(self, kind: str, dims: list[Dim]) -> str:
        shape = tuple(dim if isinstance(dim, int) else self.sizes[dim][0] for dim in dims)
        name = f"x{len(self.inputs)}"
        self.inputs.append(Given(name, kind, tuple(dims)))
        self.values[name] = self.array(kind, shape)
        return name

    def stated(self, array: np.ndarray) -> str:
        """A constant: an initializer or, as often, a Constant node."""
        name = f"c{len(self.constants) + len(self.nodes)}"
        tensor = onnx.numpy_helper.from_array(array, name)
        if self.chance(0.5):
            self.constants.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], name=f"{len(self.nodes)}_Constant", value=tensor))
        self.values[name] = array
        self.fixed.add(name)
        return name

    def longs(self, *numbers: int) -> str:
        return self.stated(np.array(numbers, np.int64))

    def add(self, operator, operands, outputs=1, **attributes):
        made = super().add(operator, operands, outputs, **attributes)
        if made is None:
            return None
        if not all(map(_is_sound, (self.values[name] for name in self.nodes[-1].output))):
            for name in self.nodes.pop().output:
                del self.values[name]
            return None
        return made

    def value(self, *kinds: str, least_rank: int = 0, most_rank: int = 3) -> str:
        types = [TYPES[kind] for kind in (self.pick(*kinds) if self.chance(0.7) else kinds[0],)]
        found = [
            name for name, array in self.values.items() if str(array.dtype) in types and least_rank <= array.ndim <= most_rank
        ]
        if not found or self.chance(0.12):
            kind = next(kind for kind, dtype in TYPES.items() if dtype == types[0])
            rank = self.pick(*range(least_rank, most_rank + 1))
            return self.stated(self.array(kind, tuple(self.pick(1, 2, 3) for _ in range(rank))))
        return self.pick(*found[-4:]) if self.chance(0.6) else self.pick(*found)

    def operand(self, name: str) -> str:
        """An operand of the same type that is broadcast together with a value."""
        array = self.values[name]
        same = [one for one, other in self.values.items() if other.dtype == array.dtype and go_together(array, other)]
        if self.chance(0.55):
            return self.pick(*same)
        shape = array.shape[-1:] if self.chance(0.4) else ()
        return self.stated(self.array(self.kind(name), shape))


def _is_sound(array: np.ndarray) -> bool:
    if array.dtype.kind == "f":
        return bool(np.isfinite(array).all() and (abs(array) < 2**24).all())
    limits = np.iinfo(np.int32)
    return array.dtype.kind not in "iu" or bool(((array >= limits.min) & (array <= limits.max)).all())


def go_together(one: np.ndarray, other: np.ndarray) -> bool:
    try:
        np.broadcast_shapes(one.shape, other.shape)
    except ValueError:
        return False
    return True


def kind_of(array: np.ndarray) -> int:
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))

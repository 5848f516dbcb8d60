"""Element types of OpenVINO, with their names in IR attributes, IR ports, NumPy and ONNX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type of an OpenVINO tensor.

    Attributes:
        name: as the `element_type` attribute of Parameter and Const writes it ("f32").
        precision: as a port's `precision` writes it ("FP32").
        bits: size of one element in bits; 0 if it has no fixed size (string, dynamic).
        numpy_name: the NumPy or ml_dtypes dtype of one unpacked element; "" if there is none.
        onnx: the number in `onnx.TensorProto.DataType`; 0 if ONNX does not have the type.
    """

    name: str
    precision: str
    bits: int
    numpy_name: str = ""
    onnx: int = 0

    def __str__(self) -> str:
        return self.name

    def byte_size(self, count: int) -> int:
        """Return the number of bytes of `count` elements in the .bin, packed; u3 and u6 come in units of 3 bytes."""
        unit = 24 if self.bits in (3, 6) else 8
        return -(-count * self.bits // unit) * (unit // 8)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of one unpacked element; strings are objects. Raises TypeError if there is none."""
        import numpy as np

        if not self.numpy_name:
            raise TypeError(f"element type {self.name} has no NumPy dtype")
        if self.numpy_name in np.sctypeDict:
            return np.dtype(self.numpy_name)
        import ml_dtypes

        scalar: type[np.generic] = getattr(ml_dtypes, self.numpy_name)
        return np.dtype(scalar)


ELEMENT_TYPES = (
    ElementType("boolean", "BOOL", 8, "bool", 9),
    ElementType("bf16", "BF16", 16, "bfloat16", 16),
    ElementType("f16", "FP16", 16, "float16", 10),
    ElementType("f32", "FP32", 32, "float32", 1),
    ElementType("f64", "FP64", 64, "float64", 11),
    ElementType("i4", "I4", 4, "int4", 22),
    ElementType("i8", "I8", 8, "int8", 3),
    ElementType("i16", "I16", 16, "int16", 5),
    ElementType("i32", "I32", 32, "int32", 6),
    ElementType("i64", "I64", 64, "int64", 7),
    ElementType("u1", "BIN", 1),
    ElementType("u2", "U2", 2, "uint2", 25),
    ElementType("u3", "U3", 3),
    ElementType("u4", "U4", 4, "uint4", 21),
    ElementType("u6", "U6", 6),
    ElementType("u8", "U8", 8, "uint8", 2),
    ElementType("u16", "U16", 16, "uint16", 4),
    ElementType("u32", "U32", 32, "uint32", 12),
    ElementType("u64", "U64", 64, "uint64", 13),
    ElementType("nf4", "NF4", 4),
    ElementType("f8e4m3", "F8E4M3", 8, "float8_e4m3fn", 17),
    ElementType("f8e5m2", "F8E5M2", 8, "float8_e5m2", 19),
    ElementType("f4e2m1", "F4E2M1", 4, "float4_e2m1fn", 23),
    ElementType("f8e8m0", "F8E8M0", 8, "float8_e8m0fnu", 24),
    ElementType("string", "STRING", 0, "object", 8),
    ElementType("dynamic", "UNSPECIFIED", 0),
)

_BY_NAME = {row.name: row for row in ELEMENT_TYPES} | {"undefined": ELEMENT_TYPES[-1]}
# A port's precision may also be the lower-case name ("f32"); an element_type may not be a precision ("FP32").
_BY_PRECISION = {row.precision: row for row in ELEMENT_TYPES} | {row.name: row for row in ELEMENT_TYPES}
_BY_ONNX = {row.onnx: row for row in ELEMENT_TYPES if row.onnx}


def by_name(name: str) -> ElementType | None:
    """Return the type that an `element_type` attribute names, in either case; None if unknown."""
    return _BY_NAME.get(name.lower())


def by_precision(precision: str) -> ElementType | None:
    """Return the type that a port's `precision` names; None if unknown."""
    return _BY_PRECISION.get(precision)


def by_onnx(data_type: int) -> ElementType | None:
    """Return the type with this number in `onnx.TensorProto.DataType`; None if OpenVINO has no such type."""
    return _BY_ONNX.get(data_type)


def by_dtype(dtype: np.dtype[Any]) -> ElementType | None:
    """Return the type whose unpacked elements have this NumPy dtype; None if there is none."""
    return next((row for row in ELEMENT_TYPES if row.numpy_name and row.dtype == dtype), None)


def _row(name: str) -> ElementType:
    return _BY_NAME[name]


BOOLEAN, STRING, DYNAMIC = _row("boolean"), _row("string"), _row("dynamic")
BF16, F16, F32, F64 = _row("bf16"), _row("f16"), _row("f32"), _row("f64")
I32, I64, U32, U64 = _row("i32"), _row("i64"), _row("u32"), _row("u64")
INTEGERS = tuple(_row(name) for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"))
REALS = tuple(_row(name) for name in ("bf16", "f16", "f32", "f64"))
I4, U1, U2, U4, U8, F4E2M1 = (_row(name) for name in ("i4", "u1", "u2", "u4", "u8", "f4e2m1"))
F8E4M3, F8E5M2, F8E8M0 = _row("f8e4m3"), _row("f8e5m2"), _row("f8e8m0")

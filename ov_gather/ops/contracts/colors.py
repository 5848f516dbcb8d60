"""Contracts of operators that convert images between RGB, BGR and the layouts NV12 and I420."""

from __future__ import annotations

from ov_gather.ir.element_types import REALS, U8
from ov_gather.ir.shapes import Dimension
from ov_gather.ops.contracts.call import BadCountError, BadSizeError, Call, Output
from ov_gather.ops.contracts.sizes import NamedSizes, linear


def to_colors(call: Call) -> list[Output]:
    """NV12toBGR, NV12toRGB, I420toBGR, I420toRGB: one image of height * 3 / 2 rows, or a Y plane and smaller ones."""
    kind = call.same_type(*range(call.count))
    call.takes(0, (U8, *REALS), "the image")
    planes = 2 if call.type.startswith("NV12") else 3
    if call.count not in (1, planes):
        raise BadCountError(f"the layer has {call.count} inputs", f"{call.type} takes 1 or {planes}")
    sizes = NamedSizes()
    if call.count == 1:
        sizes.fit(call, 0, "the image", "batch", "rows", "width", "1")
        _divides(3, sizes["rows"], "rows")
        sizes["height"] = linear(sizes["rows"], 2, over=3)
    else:
        for port in range(1, call.count):
            sizes.fit(call, port, f"input {port}", "batch", "height / 2", "width / 2", "2" if planes == 2 else "1")
        for name in ("height", "width"):
            sizes[name] = linear(sizes[f"{name} / 2"], 2)
        sizes.fit(call, 0, "the Y plane", "batch", "height", "width", "1")
    _halve(sizes)
    return [(kind, sizes.shape("batch", "height", "width", "3"))]


def to_nv12(call: Call) -> list[Output]:
    """BGRtoNV12, RGBtoNV12: one image of height * 3 / 2 rows, or a Y plane and a UV plane."""
    call.takes(0, (U8, *REALS), "the image")
    kind, sizes = call.kind(0), NamedSizes()
    sizes.fit(call, 0, "the image", "batch", "height", "width", "3")
    _halve(sizes)
    if call.flag("single_plane", True):
        sizes["rows"] = linear(sizes["height"], 3, over=2)
        return [(kind, sizes.shape("batch", "rows", "width", "1"))]
    return [
        (kind, sizes.shape("batch", "height", "width", "1")),
        (kind, sizes.shape("batch", "height / 2", "width / 2", "2")),
    ]


def _halve(sizes: NamedSizes) -> None:
    for name in ("height", "width"):
        _divides(2, sizes[name], name)
        sizes[f"{name} / 2"] = linear(sizes[name], over=2)


def _divides(number: int, dim: Dimension, name: str) -> None:
    if dim.is_static and dim.lower % number:
        raise BadSizeError(f"{name} is {dim}", f"a multiple of {number}", 0)

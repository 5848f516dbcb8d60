"""Two routes from torch to an IR: over ONNX, and by OpenVINO's PyTorch front end; each with static and with open dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import openvino as ov
import torch

from ov_gather.system.files import replacing_together
from tools.architectures.architecture import Architecture

Way = tuple[str, Callable[[], ov.Model]]
ROUTES = ("onnx", "torch")
SHAPES = ("static", "open")


def exported(architecture: Architecture, route: str, shapes: str, path: Path) -> tuple[str, ov.Model]:
    """The name of the first way that works, and the model. Raises RuntimeError that says what each way failed of."""
    ways = _onnx_ways if route == "onnx" else _torch_ways
    failures = []
    for way, make in [*ways(architecture, shapes, path), *_reshaping(architecture, shapes, path)]:
        try:
            return way, _named(make(), architecture)
        except Exception as error:  # what exporters and OpenVINO raise has no common base
            failures.append(f"{way}: {_telling_line(error)}")
    raise RuntimeError("; ".join(failures))


HOLLOW = ("Failed to export", "Exception from", "Check", "FrontEnd API failed")
"""Lines of messages that begin so do not say what failed."""


def _telling_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    summary = [line for line in lines if line.startswith(("-- Conversion is failed", "<class"))]
    telling = summary or [line for line in lines if not line.startswith(HOLLOW)]
    return f"{type(error).__name__}: {' '.join(telling[:1])[:160]}"


def _onnx_ways(architecture: Architecture, shapes: str, path: Path) -> Iterable[Way]:
    names, is_open = list(architecture.inputs), shapes == "open"
    axes = {name: {axis: dim for axis, dim in enumerate(architecture.axes[name]) if dim} for name in names}
    symbols = {name: dict.fromkeys(axes[name], torch.export.Dim.DYNAMIC) for name in names}
    common: dict[str, Any] = {"input_names": names, "external_data": False, "verbose": False}
    new = common | {"dynamo": True, "dynamic_shapes": (tuple(symbols.values()),) if is_open else None}
    old = common | {"dynamo": False, "opset_version": 17, "dynamic_axes": axes if is_open else None}

    def convert(options: dict[str, Any]) -> ov.Model:
        with replacing_together(path.with_suffix(".onnx")) as onnx:
            torch.onnx.export(architecture.model, tuple(architecture.inputs.values()), onnx, **options)
            return ov.convert_model(onnx)

    return [("dynamo", lambda: convert(new)), ("legacy", lambda: convert(old))]


def _torch_ways(architecture: Architecture, shapes: str, path: Path) -> Iterable[Way]:
    given = tuple(architecture.inputs.values())
    sizes = list(_open_shapes(architecture).values()) if shapes == "open" else [ov.PartialShape(x.shape) for x in given]

    def trace() -> ov.Model:
        return ov.convert_model(architecture.model, example_input=given, input=sizes)

    def program() -> ov.Model:
        symbols = tuple(
            {axis: torch.export.Dim.DYNAMIC for axis, dim in enumerate(architecture.axes[name]) if dim}
            for name in architecture.inputs
        )
        found = torch.export.export(architecture.model, given, dynamic_shapes=(symbols,) if shapes == "open" else None)
        model = ov.convert_model(found)
        if shapes == "static":
            model.reshape(dict(enumerate(sizes)))  # because the front end leaves sizes of a program open
        return model

    return [("trace", trace), ("program", program)]


def _reshaping(architecture: Architecture, shapes: str, path: Path) -> Iterable[Way]:
    if shapes == "static":
        return []

    def reshape() -> ov.Model:
        model = ov.Core().read_model(path.parents[1] / "static" / path.name)
        model.reshape(_open_shapes(architecture))
        return model

    return [("reshape", reshape)]


def _open_shapes(architecture: Architecture) -> dict[str, ov.PartialShape]:
    return {
        name: ov.PartialShape([-1 if dim else size for dim, size in _with_axes(value.shape, architecture.axes[name])])
        for name, value in architecture.inputs.items()
    }


def _with_axes(shape: torch.Size, axes: tuple[str | None, ...]) -> list[tuple[str | None, int]]:
    return [(axes[axis] if axis < len(axes) else None, size) for axis, size in enumerate(shape)]


def _named(model: ov.Model, architecture: Architecture) -> ov.Model:
    """A model whose inputs bear the names of the example's."""
    if len(model.inputs) != len(architecture.inputs):
        raise ValueError(f"{len(architecture.inputs)} inputs became {len(model.inputs)}")
    names = list(architecture.inputs)
    if {port.any_name for port in model.inputs if port.names} != set(names):
        for port, name in zip(model.inputs, names, strict=True):
            port.get_tensor().set_names({name})
    return model

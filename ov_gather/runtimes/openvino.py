"""OpenVINO, stock or with our extension, computing in f32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import openvino as ov
from numpy.typing import NDArray

from ov_gather.extension import reason
from ov_gather.extension.users import UserExtension, new_core
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.writer import to_bytes
from ov_gather.ops import versions_of
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.runtimes.base import RefusedError, Runtime
from ov_gather.runtimes.session import Session


@cache
def _core(extensions: tuple[UserExtension, ...], ours: bool) -> Any:
    return new_core(extensions, ours=ours)


def core_with_extension(extensions: tuple[UserExtension, ...] = ()) -> Any:
    """Return a core with our operations, and those of users, registered."""
    return _core(extensions, True)


class OpenVINORuntime(Runtime[Model | Path]):
    """A runtime that reads an IR file, or the IR that our writer emits for a Model, and compiles it."""

    name = "openvino"
    device = "CPU"
    properties: Mapping[str, Any] = MappingProxyType({})
    has_ours = False
    """Whether our operations are registered."""
    extensions: tuple[UserExtension, ...] = ()

    @property
    def version(self) -> str:
        """The version of OpenVINO, without the build number."""
        return str(ov.get_version()).split("-")[0]

    def core(self) -> Any:
        """Return the core that reads and compiles models. Raises ExtensionError."""
        return _core(self.extensions, self.has_ours)

    def activate(
        self, model: Model | Path, threads: int = 0, device: str = "", extensions: tuple[UserExtension, ...] | None = None
    ) -> None:
        """Write a Model, read it and compile it for `device`, if given. Raises RefusedError with OpenVINO's reason."""
        self.extensions = self.extensions if extensions is None else extensions
        properties = {**self.properties, **({"INFERENCE_NUM_THREADS": threads} if threads else {})}
        self._session = Session(self.core(), self.read(model), device or self.device, properties)

    def execution_devices(self) -> tuple[str, ...]:
        """Return the devices that execute the activated model."""
        return self._session.devices

    def read(self, model: Model | Path) -> Any:
        """Return the `openvino.Model` that OpenVINO reads. Raises RefusedError."""
        try:
            if isinstance(model, Path):
                return self.core().read_model(model)
            xml, binary = to_bytes(model)
            return self.core().read_model(model=xml, weights=binary)
        except RuntimeError as error:
            raise RefusedError(reason(error)) from None

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Infer once. Raises RefusedError with OpenVINO's reason."""
        return self._session(inputs)


class ExtensionRuntime(OpenVINORuntime):
    """OpenVINO with our extension; layers with an equivalent operation of ours are converted to it."""

    name = "extension"
    has_ours = True

    def activate(
        self, model: Model | Path, threads: int = 0, device: str = "", extensions: tuple[UserExtension, ...] | None = None
    ) -> None:
        """Convert the layers, and activate the model. Raises RefusedError with OpenVINO's reason."""
        if isinstance(model, Model):
            model = customized(model)
        super().activate(model, threads, device, extensions)


def customized(model: Model) -> Model:
    """Return a model with our operations for the family's layers that have one. Edges to inputs that ours lack are dropped."""
    changed = {view.layer.id: _customized(view) for view in family_layers(model)}
    layers = tuple(changed.get(layer.id, layer) for layer in model.layers)
    ports = {(layer.id, port.id) for layer in layers for port in layer.inputs}
    edges = tuple(edge for edge in model.edges if (edge.to_layer, edge.to_port) in ports)
    return replace(model, layers=layers, edges=edges)


def _customized(view: LayerView) -> Layer:
    version = view.custom_version
    if version is None or not view.has_all_ports:
        return view.layer
    layer_type, values = version
    ours = next(operation for operation in versions_of(layer_type) if CUSTOM_OPSET in operation.opsets)
    text = {each.name: str(values[each.name]).lower() for each in ours.attributes if each.name in values}
    names = [given.name for given in ours.inputs]
    kept = (port for port, given in zip(view.layer.inputs, view.operation.inputs, strict=True) if given.name in names)
    return replace(view.layer, type=layer_type, version=CUSTOM_OPSET, attributes=text, inputs=tuple(kept))

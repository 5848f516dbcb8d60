"""OpenVINO as a caller sets it: the device, the precision, and with our operations or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ov_gather.ir.model import Model
from ov_gather.runtimes.accelerated import AcceleratedRuntime
from ov_gather.runtimes.base import Runtime
from ov_gather.runtimes.openvino import OpenVINORuntime, core_with_extension


class _WithExtension(OpenVINORuntime):
    """OpenVINO that knows our operations; the model is executed as it is."""

    def _core(self) -> Any:
        return core_with_extension()


_BY_NAME: dict[str, type[OpenVINORuntime]] = {
    "openvino": OpenVINORuntime,
    "extension": _WithExtension,
    "accelerated": AcceleratedRuntime,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A Setting says what executes a model and how: "openvino", "extension", which knows our operations, or "accelerated"."""

    runtime: str = "openvino"
    device: str = "CPU"
    precision: str = "f32"


@dataclass(frozen=True, slots=True)
class Configured:
    """A Configured is a model with the setting that it is to be executed with."""

    model: Model | Path
    setting: Setting


class ConfiguredRuntime(Runtime[Configured]):
    """A runtime that executes each model with the setting that comes with it."""

    name = "configured"

    @property
    def version(self) -> str:
        """The version of OpenVINO, without the build number."""
        return OpenVINORuntime().version

    def activate(self, model: Configured, threads: int = 0) -> None:
        """Read and compile. Raises RefusedError with what OpenVINO says."""
        self._runtime = _BY_NAME[model.setting.runtime]()
        self._runtime.device = model.setting.device
        self._runtime.properties = {"INFERENCE_PRECISION_HINT": model.setting.precision}
        self._runtime.activate(model.model, threads)

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Infer once. Raises RefusedError with what OpenVINO says."""
        return self._runtime.execute(inputs)

"""OpenVINO on models that `accelerate` rewrites; and OpenVINO with a device, precision and runtime chosen per model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ov_gather.acceleration.accelerate import accelerate
from ov_gather.extension.users import UserExtension
from ov_gather.ir.model import Model
from ov_gather.runtimes.base import Runtime
from ov_gather.runtimes.openvino import OpenVINORuntime


class AcceleratedRuntime(OpenVINORuntime):
    """OpenVINO with our extension; `accelerate` rewrites each model before it is compiled."""

    name = "accelerated"
    has_ours = True

    def read(self, model: Model | Path) -> Any:
        """Read a model, and rewrite it. Raises RefusedError."""
        read = super().read(model)
        accelerate(read)
        return read


class _WithExtension(OpenVINORuntime):
    """OpenVINO with our operations registered; models are executed unchanged."""

    has_ours = True


_BY_NAME: dict[str, type[OpenVINORuntime]] = {
    "openvino": OpenVINORuntime,
    "extension": _WithExtension,
    "accelerated": AcceleratedRuntime,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """How to execute a model: by "openvino", "extension" (with our operations) or "accelerated" (rewritten).

    `extensions` are those of users, for each of the three.
    """

    runtime: str = "openvino"
    device: str = "CPU"
    precision: str = "f32"
    extensions: tuple[UserExtension, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A model and the setting to execute it with."""

    model: Model | Path
    setting: Setting


class ConfiguredRuntime(Runtime[ConfiguredModel]):
    """A runtime that executes each model with its own setting."""

    name = "configured"

    @property
    def version(self) -> str:
        """The version of OpenVINO, without the build number."""
        return OpenVINORuntime().version

    def activate(self, model: ConfiguredModel, threads: int = 0) -> None:
        """Read and compile a model. Raises RefusedError with OpenVINO's reason."""
        self._runtime = _BY_NAME[model.setting.runtime]()
        self._runtime.device = model.setting.device
        self._runtime.properties = {"INFERENCE_PRECISION_HINT": model.setting.precision}
        self._runtime.activate(model.model, threads, extensions=model.setting.extensions)

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Infer once. Raises RefusedError with OpenVINO's reason."""
        return self._runtime.execute(inputs)

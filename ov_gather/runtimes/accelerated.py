"""The OpenVINO CPU runtime, with the gathers of a whole model replaced by ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ov_gather.acceleration.accelerate import accelerate
from ov_gather.ir.model import Model
from ov_gather.runtimes.openvino import OpenVINORuntime, core_with_extension


class AcceleratedRuntime(OpenVINORuntime):
    """A runtime that reads a model, accelerates it, compiles it for the CPU plugin and infers."""

    name = "accelerated"

    def _core(self) -> Any:
        return core_with_extension()

    def _read(self, core: Any, model: Model | Path) -> Any:
        read = super()._read(core, model)
        accelerate(read)
        return read

"""OpenVINO on models that `accelerate` has rewritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ov_gather.acceleration.accelerate import accelerate
from ov_gather.ir.model import Model
from ov_gather.runtimes.openvino import OpenVINORuntime, core_with_extension


class AcceleratedRuntime(OpenVINORuntime):
    """OpenVINO with our extension; `accelerate` rewrites each model before it is compiled."""

    name = "accelerated"

    def _core(self) -> Any:
        return core_with_extension()

    def _read(self, core: Any, model: Model | Path) -> Any:
        read = super()._read(core, model)
        accelerate(read)
        return read

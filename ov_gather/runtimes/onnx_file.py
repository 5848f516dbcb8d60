"""ONNX models in files, whose external data may be in another folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """The path of an .onnx file; `data` is the folder of its external data if that is another one."""

    path: Path
    data: Path | None = None

"""ONNX models are executed from a file, whose external data may be in another folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """An OnnxFile is the path of an .onnx; `data` is the folder that has its external data, if that is another folder."""

    path: Path
    data: Path | None = None

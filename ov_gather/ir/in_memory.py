"""Serialization of an in-memory `openvino.Model`, which is then read like a file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def is_openvino_model(source: Any) -> bool:
    """Return True if `source` is an `openvino.Model`, without importing OpenVINO."""
    return type(source).__name__ == "Model" and type(source).__module__.startswith("openvino")


def serialized(model: Any) -> tuple[bytes, bytes]:
    """Return the bytes of the .xml and the .bin that OpenVINO writes for an `openvino.Model`."""
    import openvino

    with TemporaryDirectory(prefix="ov-gather-") as directory:
        path = Path(directory, "model.xml")
        openvino.serialize(model, path, path.with_suffix(".bin"))
        return path.read_bytes(), path.with_suffix(".bin").read_bytes()

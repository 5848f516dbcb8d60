"""Expected outputs stored beside an IR: `x.expected.json` beside `x.xml` maps layer names to values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ov_gather.system.files import replacing


def read_expected(path: str) -> Mapping[str, Any]:
    """Read the expected outputs beside an IR; empty if there is no such file. Raises OSError, ValueError."""
    if not path or not (file := _beside(Path(path))).is_file():
        return {}
    try:
        values = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{file}: must be an object that gives the values for each layer name")
    return values


def write_expected(path: Path, values: Mapping[str, Any]) -> None:
    """Write expected outputs beside an IR. Raises OSError."""
    with replacing(_beside(path)) as stream:
        stream.write(json.dumps(values).encode())


def _beside(path: Path) -> Path:
    return path.with_suffix(".expected.json")

"""Spare this process imports that take long: `ov-gather convert` starts in a third of the time.

Only the command line and the worker processes do so, which are ours alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_SELDOM_NEEDED = ("sympy", "onnx_ir._symbolic_shapes")
"""What onnx_ir imports whenever it is imported, and needs for models whose sizes are expressions."""
_NEVER_NEEDED = "openvino.tools.ovc"
"""OpenVINO's converter, which `import openvino` imports if it is installed; it starts a thread that sends statistics."""


class _Postponing:
    """Finds the modules that are seldom needed. They are executed when something of them is first used."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> ModuleSpec | None:
        if name not in _SELDOM_NEEDED:
            return None
        from importlib.util import LazyLoader

        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            spec.loader = LazyLoader(spec.loader)
        return spec


def spare_imports() -> None:
    """Postpone the modules that are seldom needed, and do as if those that are never needed were not installed."""
    sys.meta_path.insert(0, _Postponing)
    sys.modules[_NEVER_NEEDED] = None  # type: ignore[assignment]

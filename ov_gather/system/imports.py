"""Lazy and blocked imports, which cut the start of `ov-gather convert` to a third.

Only the command line and the worker processes use them: they own their process, unlike a library.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_SELDOM_NEEDED = ("sympy", "onnx_ir._symbolic_shapes")
"""Modules that onnx_ir always imports but only needs for models with symbolic size expressions."""
_NEVER_NEEDED = "openvino.tools.ovc"
"""OpenVINO's converter: `import openvino` imports it if installed, and it starts a thread that sends statistics."""


class _Postponing:
    """Meta path finder that defers the execution of `_SELDOM_NEEDED` modules until first use."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> ModuleSpec | None:
        if name not in _SELDOM_NEEDED:
            return None
        from importlib.util import LazyLoader

        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            spec.loader = LazyLoader(spec.loader)
        return spec


def defer_imports() -> None:
    """Defer the `_SELDOM_NEEDED` modules, and block `_NEVER_NEEDED` as if it were not installed."""
    sys.meta_path.insert(0, _Postponing)
    sys.modules[_NEVER_NEEDED] = None  # type: ignore[assignment]

"""Put off the import of sympy, which onnx_ir imports whenever it is imported, and few models need.

That import takes longer than all others of `ov-gather convert` together.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_SELDOM_NEEDED = ("sympy", "onnx_ir._symbolic_shapes")


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


def postpone_imports() -> None:
    """Postpone the import of these modules in this process, from now on."""
    sys.meta_path.insert(0, _Postponing)

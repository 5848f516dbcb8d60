"""Optional packages, and the extra of ov-gather that installs each; lazy and blocked imports.

Only the command line and the worker processes call `defer_imports`: they own their process, unlike a library.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader, find_spec
from types import ModuleType

_SELDOM_NEEDED = ("sympy", "onnx_ir._symbolic_shapes")
"""Modules that onnx_ir always imports but only needs for models with symbolic size expressions."""
_NEVER_NEEDED = "openvino.tools.ovc"
"""OpenVINO's converter: `import openvino` imports it if installed, and it starts a thread that sends statistics."""
_EXTRAS = {
    "openvino": "openvino",
    "onnx": "onnx",
    "onnx_ir": "onnx",
    "onnxruntime": "onnxruntime",
    "distributed": "dask",
    "fsspec": "urls",
    "torch": "torch",
    "jax": "peers",
}
"""Module name -> extra of ov-gather that installs it."""


_OWN = re.compile(r"ov-gather\[([\w-]+)\]")
"""A requirement of an extra that is another extra."""


class _Postponing:
    """Meta path finder that defers the execution of `_SELDOM_NEEDED` modules until first use."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> ModuleSpec | None:
        if name not in _SELDOM_NEEDED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            spec.loader = LazyLoader(spec.loader)
        return spec


def defer_imports() -> None:
    """Defer the `_SELDOM_NEEDED` modules, and block `_NEVER_NEEDED`; this cuts the start of `ov-gather convert` to a third."""
    sys.meta_path.insert(0, _Postponing)
    sys.modules[_NEVER_NEEDED] = None  # type: ignore[assignment]


def require(module: str) -> None:
    """Raise ImportError if `module` is not installed; call it before long work that needs the module."""
    if find_spec(module) is None:
        raise missing(module)


def missing(module: str) -> ImportError:
    """Return the ImportError for a missing module; its message has a pip command that needs no index with ov-gather."""
    packages = dict.fromkeys(_packages(_EXTRAS[module]))
    wanted = " ".join(f"'{package}'" if re.search(r"\W", package.replace("-", "")) else package for package in packages)
    return ImportError(f"this needs {module}, which is not installed: pip install {wanted}", name=module)


def _packages(extra: str) -> list[str]:
    """Return what an extra of ov-gather installs, as requirements."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("ov-gather") or ()
    except PackageNotFoundError:
        return [f"ov-gather[{extra}]"]
    marker = re.compile(rf"(.*?)\s*; extra == ['\"]{extra}['\"]")
    packages: list[str] = []
    for found in filter(None, map(marker.fullmatch, lines)):
        other = _OWN.fullmatch(found[1])
        packages += _packages(other[1]) if other else [found[1]]
    return packages


def explained(error: ImportError) -> ImportError:
    """Return `missing(...)` if an extra of ov-gather installs the missing module, else the error unchanged."""
    is_absent = isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS
    return missing(str(error.name)) if is_absent else error

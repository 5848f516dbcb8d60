"""Optional packages: which extra of ov-gather installs each, and the ImportError that says so."""

from __future__ import annotations

from importlib.util import find_spec

_EXTRAS = {
    "openvino": "openvino",
    "onnx": "onnx",
    "onnx_ir": "onnx",
    "onnxruntime": "onnxruntime",
    "distributed": "dask",
    "fsspec": "urls",
    "torch": "torch",
}
"""Module name -> extra of ov-gather that installs it."""


def require(module: str) -> None:
    """Raise ImportError if `module` is not installed; call it before long work that needs the module."""
    if find_spec(module) is None:
        raise missing(module)


def missing(module: str) -> ImportError:
    """Return the ImportError for a missing module; its message contains the pip command."""
    return ImportError(f"this needs {module}, which is not installed: pip install 'ov-gather[{_EXTRAS[module]}]'", name=module)


def explained(error: ImportError) -> ImportError:
    """Return `missing(...)` if an extra of ov-gather installs the missing module, else the error unchanged."""
    is_absent = isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS
    return missing(str(error.name)) if is_absent else error

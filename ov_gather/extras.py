"""This module tells what to install where a package is missing that ov-gather does not always need."""

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
"""By the name of a module, the extra of ov-gather that installs it."""


def require(module: str) -> None:
    """Raise ImportError if a module is not installed, before work is done in vain."""
    if find_spec(module) is None:
        raise missing(module)


def missing(module: str) -> ImportError:
    """Return the error that says that a module is not installed, and how to install it."""
    return ImportError(f"this needs {module}, which is not installed: pip install 'ov-gather[{_EXTRAS[module]}]'", name=module)


def explained(error: ImportError) -> ImportError:
    """Return the same error; or a better one where it is about a module that an extra of ov-gather installs."""
    is_absent = isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS
    return missing(str(error.name)) if is_absent else error

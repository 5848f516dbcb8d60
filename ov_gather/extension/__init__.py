"""The OpenVINO extension: finding or compiling it, adding it to an `openvino.Core`, and reading OpenVINO's errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ov_gather.extension import installed

if TYPE_CHECKING:
    from openvino import Core

_BUILT_FOR = re.compile(rb"ov_gather built for OpenVINO (\d+\.\d+\.\d+)")
_NO_REASON = ("Exception from", "Caught exception", "Check '")
_UNKNOWN = ("unsupported opset", "doesn't contain the operation")
_IN_PYTHON = re.compile(r"^(?P<error>\S.*)\n+At:\n +(?P<file>.+)\((?P<line>\d+)\): ", re.MULTILINE)
"""An exception in an operation that is written in Python: the last call comes first."""
_LAYERS = (
    re.compile(r"^Node (?P<name>.+) of type (?P<type>\w+)$", re.MULTILINE),
    re.compile(r"\[CPU\] (?P<type>\w+) node with name '(?P<name>[^']+)'"),
)


def extension_path() -> Path:
    """Return the library to load with `core.add_extension`, `ovc --extension` or `benchmark_app -extensions`.

    If ov-gather was not built for the installed release of OpenVINO, the library is compiled on first use, and kept in the
    user's cache directory ($XDG_CACHE_HOME, or ~/.cache).

    Raises:
        FileNotFoundError: there is no compiler, or OpenVINO has no C++ headers.
        ImportError: OpenVINO is not installed, or only in part; or the compiler fails.
        OSError: the cache directory cannot be written.
    """
    openvino = installed.find()
    if bundled := _bundled(openvino.release):
        return bundled
    from ov_gather.extension import cache  # a slow import, needed only to compile

    return cache.library(openvino)


def _bundled(release: str) -> Path | None:
    """Return the extension built with this package if it was built for a release: next to another one it cannot be loaded."""
    library = installed.compiled() / installed.FILE_NAME
    found = _BUILT_FOR.search(library.read_bytes()) if library.is_file() else None
    return library if found and found[1].decode() == release else None


def register(core: Core) -> Core:
    """Add our operations (opset `ov_gather`) to an `openvino.Core`, and conversions of ONNX nodes to them.

    The core then reads and compiles models with our GatherElements, Gather, GatherND, ScatterElements and ScatterND, and
    GatherScatter, which `accelerate` writes. They take data and indices of all shapes that ONNX allows, and check each index;
    negative ones count from the end. An index out of bounds makes the inference fail, and the error names the layer and the
    position. Stock operations stay as they are.

    The library is compiled first if none fits the installed OpenVINO, which takes 10 to 20 seconds once.

    Args:
        core: the core to extend; it may be registered twice. Each core needs its own call.

    Returns:
        The same core. Its `read_model` converts the ONNX nodes GatherElements, Gather, GatherND, ScatterElements, Scatter and
        ScatterND to ours, except for a Gather from the output of a Shape node, and a scatter of that.

    Raises:
        TypeError: `core` is not an `openvino.Core`.
        FileNotFoundError: there is no compiler, or OpenVINO has no C++ headers.
        ImportError: OpenVINO is not installed, or its files belong to two releases; or the compiler fails.
        OSError: the cache directory cannot be written, or another user could change what is in it.

    Source: ONNX GatherElements-13, Gather-13, GatherND-13, ScatterElements-18 and ScatterND-18; with `bounds="zero"` OpenVINO
    Gather-8. The reference of operations lists the attributes.
    """
    if not hasattr(core, "add_extension"):
        raise TypeError(f"register: core must be an openvino.Core, such as openvino.Core(), not {type(core).__name__}")
    core.add_extension(checked_path())
    return core


def checked_path() -> str:
    """Return `extension_path` as str, which all releases accept, checked against the OpenVINO in this process.

    Raises FileNotFoundError, ImportError, OSError.
    """
    import openvino

    running = openvino.get_version().split("-")[0]
    found = installed.find()
    if found.release != running:
        raise ImportError(
            f"the files in {found.package} are of two releases, OpenVINO {found.release} and {running}: "
            "remove them, and pip install --force-reinstall openvino"
        )
    return str(extension_path())


def lacks_operation(error: RuntimeError) -> bool:
    """Return True if OpenVINO refuses a model as it does not know the operation of a layer."""
    return any(words in str(error) for words in _UNKNOWN)


def reason(error: RuntimeError) -> str:
    """Return the last informative line of an OpenVINO error, prefixed with the layer at fault."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_NO_REASON)]
    why = (telling or lines or ["no reason given"])[-1]
    if raised := _IN_PYTHON.search(str(error)):
        why = f"{raised['error']} ({raised['file']}, line {raised['line']})"
    layer = next(filter(None, (pattern.search(str(error)) for pattern in _LAYERS)), None)
    return why if layer is None or layer["name"] in why else f"{layer['type']} '{layer['name']}': {why}"

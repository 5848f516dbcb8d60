"""This package finds or compiles the OpenVINO extension, adds it to an `openvino.Core`, and reads the errors of OpenVINO."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ov_gather.extension import installed

if TYPE_CHECKING:
    from openvino import Core

_BUILT_FOR = re.compile(rb"ov_gather built for OpenVINO (\d+\.\d+\.\d+)")
_NO_REASON = ("Exception from", "Caught exception", "Check '")
_LAYERS = (
    re.compile(r"^Node (?P<name>.+) of type (?P<type>\w+)$", re.MULTILINE),
    re.compile(r"\[CPU\] (?P<type>\w+) node with name '(?P<name>[^']+)'"),
)


def extension_path() -> Path:
    """Find the library that OpenVINO loads with `core.add_extension`, `ovc --extension` or `benchmark_app -extensions`.

    Where ov-gather was not built for the installed release of OpenVINO, the library is compiled when it is first needed, and
    kept in the user's cache directory ($XDG_CACHE_HOME, or ~/.cache).

    Raises:
        FileNotFoundError: there is no compiler, or OpenVINO has no C++ headers.
        ImportError: OpenVINO is not installed, or only in part; or the compiler fails.
        OSError: the cache directory cannot be written.
    """
    openvino = installed.find()
    bundled = _bundled()
    if built_for(bundled) == openvino.release:
        return bundled
    from ov_gather.extension import cache  # imports what only compiling needs

    return cache.library(openvino)


def _bundled() -> Path:
    """Tell where the extension is that was built with this package, if one was."""
    native = find_spec("ov_gather._native")
    return Path(native.origin if native and native.origin else __file__).with_name(installed.FILE_NAME)


def built_for(library: Path) -> str | None:
    """Read the release that a library was built for from its bytes: beside another release it cannot be loaded."""
    found = _BUILT_FOR.search(library.read_bytes()) if library.is_file() else None
    return found[1].decode() if found else None


def register(core: Core) -> Core:
    """Add our operations to an `openvino.Core`: opset `ov_gather`, and ONNX nodes that become them.

    Returns:
        The core. Its `read_model` then also reads ONNX GatherElements, Gather and GatherND as ours; but a Gather from what a
        Shape node yields stays the stock one.

    Raises:
        FileNotFoundError, ImportError, OSError: there is no extension, and it cannot be compiled, as `extension_path` says; or
            OpenVINO's files are of two releases.
    """
    core.add_extension(checked_path())
    return core


def checked_path() -> str:
    """Find the extension like `extension_path`, for the OpenVINO in this process; as text, which all releases take.

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


def reason(error: RuntimeError) -> str:
    """Give the last line of the message of an error that is no place in OpenVINO's sources, with the layer at fault."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_NO_REASON)]
    why = (telling or lines or ["no reason given"])[-1]
    layer = next(filter(None, (pattern.search(str(error)) for pattern in _LAYERS)), None)
    return why if layer is None or layer["name"] in why else f"{layer['type']} '{layer['name']}': {why}"

"""This module finds the compiled OpenVINO extension, adds it to an `openvino.Core`, and reads the errors of OpenVINO."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openvino import Core

_FILE_NAME = "libov_gather_extension.so"
_BUILT_FOR = re.compile(rb"ov_gather built for OpenVINO (\d+\.\d+\.\d+)")
_NO_REASON = ("Exception from", "Caught exception", "Check '")
_LAYERS = (
    re.compile(r"^Node (?P<name>.+) of type (?P<type>\w+)$", re.MULTILINE),
    re.compile(r"\[CPU\] (?P<type>\w+) node with name '(?P<name>[^']+)'"),
)


def extension_path() -> Path:
    """Find the library that OpenVINO loads with `core.add_extension`, `ovc --extension` or `benchmark_app -extensions`.

    Raises:
        FileNotFoundError: ov-gather was installed without a compiler, so that there is none.
    """
    native = find_spec("ov_gather._native")
    path = Path(native.origin if native and native.origin else __file__).with_name(_FILE_NAME)
    if not path.is_file():
        raise FileNotFoundError(
            f"the OpenVINO extension is missing ({path}): install a C++17 compiler (g++) and reinstall ov-gather"
        )
    return path


def register(core: Core) -> Core:
    """Add our operations to an `openvino.Core`: opset `ov_gather`, and ONNX nodes that become them.

    Returns:
        The core. Its `read_model` then also reads ONNX GatherElements, Gather and GatherND as ours; but a Gather from what a
        Shape node yields stays the stock one.

    Raises:
        FileNotFoundError: there is no extension.
        ImportError: the extension was built for another OpenVINO than the one in use.
    """
    core.add_extension(checked_path())
    return core


def checked_path() -> Path:
    """Find the extension like `extension_path`, and check the OpenVINO release that it was built for.

    Raises FileNotFoundError, ImportError.
    """
    import openvino

    path = extension_path()
    running = openvino.get_version().split("-")[0]
    built_for = _built_for(path)
    if built_for != running:
        raise ImportError(
            f"{path.name} was built for OpenVINO {built_for}; this is OpenVINO {running}: "
            f"pip install openvino=={built_for}, or build ov-gather from source beside OpenVINO {running}"
        )
    return path


def _built_for(path: Path) -> str:
    """Read the release that a library was built for from its bytes: beside another release it cannot be loaded."""
    found = _BUILT_FOR.search(path.read_bytes())
    return found[1].decode() if found else "an unknown release"


def reason(error: RuntimeError) -> str:
    """Give the last line of the message of an error that is no place in OpenVINO's sources, with the layer at fault."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_NO_REASON)]
    why = (telling or lines or ["no reason given"])[-1]
    layer = next(filter(None, (pattern.search(str(error)) for pattern in _LAYERS)), None)
    return why if layer is None or layer["name"] in why else f"{layer['type']} '{layer['name']}': {why}"

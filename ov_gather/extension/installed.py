"""The installed OpenVINO, found without importing it."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ov_gather.system.imports import missing

FILE_NAME = "ov_gather_extension.dll" if sys.platform == "win32" else "libov_gather_extension.so"
"""File name of our extension in every location."""
_KERNEL = ("libov_gather_kernel.so.*", "libov_gather_kernel.*.dylib", "ov_gather_kernel.dll")
"""File names of the compiled kernel; CMakeLists.txt says what stands for the asterisk."""
_RELEASE = re.compile(r"^#define OPENVINO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", re.MULTILINE)
_ABI = re.compile(r"_GLIBCXX_USE_CXX11_ABI=([01])")


@dataclass(frozen=True)
class OpenVINO:
    """The package openvino: its directory, its release, such as "2026.4.1", and the std::string ABI of its libraries."""

    package: Path
    release: str
    cxx11_abi: str

    @property
    def headers(self) -> Path:
        """The directory of the C++ headers of OpenVINO and TBB."""
        return self.package / "include"

    @property
    def libraries(self) -> Path:
        """The directory of the libraries of OpenVINO and TBB."""
        return self.package / "libs"

    def library(self, name: str) -> Path:
        """Return the path of an OpenVINO library, such as "libopenvino". Raises ImportError."""
        number = self.release.replace(".", "")[2:]  # 2026.4.1: libopenvino.so.2641 or libopenvino.2641.dylib
        return self._found(f"{name}.so.{number}", f"{name}.{number}.dylib")

    def tbb(self) -> Path:
        """Return the path of TBB. Raises ImportError."""
        return self._found("libtbb.so.12", "libtbb.12.dylib")

    def _found(self, *names: str) -> Path:
        for name in names:
            if (self.libraries / name).is_file():
                return self.libraries / name
        raise ImportError(f"OpenVINO {self.release} has no {self.libraries / names[0]}: pip install --force-reinstall openvino")


def find() -> OpenVINO:
    """Return the package that `import openvino` imports. Raises ImportError; FileNotFoundError like `read`."""
    spec = find_spec("openvino")
    if spec is None or not spec.submodule_search_locations:
        raise missing("openvino")
    return read(Path(spec.submodule_search_locations[0]))


def read(package: Path) -> OpenVINO:
    """Read release and ABI of the OpenVINO in a directory from its C++ headers. Raises FileNotFoundError if there are none."""
    header = package / "include" / "openvino" / "core" / "version.hpp"
    release = ".".join(_RELEASE.findall(header.read_text())) if header.is_file() else ""
    if not release:
        raise FileNotFoundError(
            f"the OpenVINO in {package} has no C++ headers, which our extension needs: pip install 'openvino>=2024.6'"
        )
    targets = package / "cmake" / "OpenVINOTargets.cmake"
    abi = _ABI.search(targets.read_text()) if targets.is_file() else None
    return OpenVINO(package, release, abi[1] if abi else "1")


def compiled() -> Path:
    """Return the directory with what was compiled when ov-gather was installed; of an editable installation, too."""
    native = find_spec("ov_gather._native")
    return Path(native.origin if native and native.origin else __file__).parent


def reinstall() -> str:
    """Return the command that builds the kernel again, from where the package came; pip keeps a wheel without it, too."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(distribution("ov-gather").read_text("direct_url.json") or "{}")  # PEP 610
    except PackageNotFoundError:
        origin = {}
    folder = shlex.quote(url2pathname(urlsplit(origin["url"]).path)) if "dir_info" in origin else ""
    if folder and origin["dir_info"].get("editable"):
        return f"pip install -v -e {folder}"
    return f"pip install -v --force-reinstall --no-cache-dir --no-deps {folder or 'ov-gather'}"


def kernel() -> Path:
    """Return the library of the compiled kernel, which our extension uses. Raises FileNotFoundError."""
    for name in _KERNEL:
        if found := sorted(compiled().glob(name)):
            return found[0]
    raise FileNotFoundError(
        "our extension uses the compiled kernel, which is missing: install a C++17 compiler, on Debian or Ubuntu with: apt "
        f"install g++, then: {reinstall()}"
    )

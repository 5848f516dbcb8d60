"""Compilation of the OpenVINO extension from the sources in this package."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ov_gather.extension.installed import OpenVINO, kernel

_SOURCES = Path(__file__).parents[1] / "native"
_COMPILERS = ("g++", "clang++", "c++")
_FLAGS = ["-std=c++17", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-ffp-contract=off"]
# nodelete: models that hold our operations may outlive the core that loaded the library.
_LINUX = ["-shared", "-s", "-Wl,-z,nodelete", "-Wl,--exclude-libs,ALL", "-Wl,-rpath,$ORIGIN/libs:$ORIGIN/kernel"]
_MACOS = ["-bundle", "-Wl,-x", "-Wl,-rpath,@loader_path/libs", "-Wl,-rpath,@loader_path/kernel"]


@cache
def digest() -> str:
    """Return a fingerprint of the sources and compiler options of the extension, and of the interface of the kernel."""
    files = [*sorted(path for folder in ("interface", "extension") for path in (_SOURCES / folder).iterdir()), Path(__file__)]
    contents = (hashlib.sha256(path.name.encode() + path.read_bytes()).digest() for path in files)
    return hashlib.sha256(b"".join((*contents, kernel().name.encode()))).hexdigest()[:12]


def compile_extension(openvino: OpenVINO, library: Path) -> None:
    """Compile the extension for an OpenVINO. It finds its libraries in `libs`, and the kernel in `kernel`, beside itself.

    Raises:
        FileNotFoundError: there is no compiler, or no compiled kernel.
        ImportError: the compiler fails, or OpenVINO is not complete.
    """
    linked = [openvino.library("libopenvino"), openvino.library("libopenvino_onnx_frontend"), openvino.tbb(), kernel()]
    options = [f"-D_GLIBCXX_USE_CXX11_ABI={openvino.cxx11_abi}", f"-ffile-prefix-map={_SOURCES}/="]
    includes = ["-I", str(_SOURCES / "interface"), "-I", str(_SOURCES / "extension"), "-isystem", str(openvino.headers)]
    with TemporaryDirectory(prefix="ov-gather-") as folder:
        # One file takes half the time of ten: most of it goes into OpenVINO's headers.
        whole = Path(folder, "extension.cpp")
        whole.write_text("".join(f'#include "{path}"\n' for path in sorted((_SOURCES / "extension").glob("*.cpp"))))
        link = _MACOS if sys.platform == "darwin" else _LINUX
        with _progress(openvino):
            _run([*_compiler(), *_FLAGS, *options, *includes, str(whole), *map(str, linked), *link, "-o", str(library)])


def _compiler() -> list[str]:
    """Return the compiler command: $CXX, or the first of _COMPILERS found. Raises FileNotFoundError."""
    if sys.platform == "win32":
        raise FileNotFoundError("on Windows, the OpenVINO extension is not available: use Linux, for example in WSL")
    named = shlex.split(os.environ.get("CXX", ""))
    for command in [named] if named else [[name] for name in _COMPILERS]:
        if shutil.which(command[0]):
            return command
    raise FileNotFoundError(
        f"the OpenVINO extension is compiled on first use, and there is no C++17 compiler ({(named or _COMPILERS)[0]}): "
        "install one, on Debian or Ubuntu with: apt install g++"
    )


def _run(command: Sequence[str]) -> None:
    """Run a compiler command. Raises ImportError with the first error it prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        told = done.stdout.splitlines() or [f"exit code {done.returncode}"]
        why = next((line for sign in ("No space left", "error") for line in told if sign in line), told[-1])
        raise ImportError(
            f"{command[0]} cannot compile the OpenVINO extension: {why.strip()} (let CXX name another compiler for C++17; or "
            "install another release of openvino)"
        )


@contextmanager
def _progress(openvino: OpenVINO) -> Iterator[None]:
    """Show that it goes on, in terminals."""
    if not sys.stderr or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(f"compiling our extension for OpenVINO {openvino.release}, once (10 to 20 s)", total=None)
        yield

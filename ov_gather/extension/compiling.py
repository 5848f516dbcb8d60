"""Compilation of the OpenVINO extension from the sources in this package."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ov_gather.extension.installed import OpenVINO

_SOURCES = Path(__file__).parents[1] / "native"
_COMPILERS = ("g++", "clang++", "c++")
_FLAGS = ["-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-ffp-contract=off"]
# nodelete: models that hold our operations may outlive the core that loaded the library.
_LINUX = ["-shared", "-s", "-pthread", "-Wl,-z,nodelete", "-Wl,--exclude-libs,ALL", "-Wl,-rpath,$ORIGIN/libs"]
_MACOS = ["-bundle", "-Wl,-x", "-Wl,-rpath,@loader_path/libs"]


@cache
def digest() -> str:
    """Return a fingerprint of the sources and compiler options of the extension."""
    files = [*sorted(path for folder in ("kernel", "extension") for path in (_SOURCES / folder).iterdir()), Path(__file__)]
    contents = (hashlib.sha256(path.name.encode() + path.read_bytes()).digest() for path in files)
    return hashlib.sha256(b"".join(contents)).hexdigest()[:12]


def compile_extension(openvino: OpenVINO, library: Path) -> None:
    """Compile the extension for an OpenVINO, whose libraries it finds in the directory `libs` beside itself.

    Raises:
        FileNotFoundError: there is no compiler.
        ImportError: the compiler fails, or OpenVINO is not complete.
    """
    linked = [openvino.library("libopenvino"), openvino.library("libopenvino_onnx_frontend"), openvino.tbb()]
    compiler = _compiler()
    includes = ["-I", str(_SOURCES / "kernel"), "-isystem", str(openvino.headers)]
    options = [f"-D_GLIBCXX_USE_CXX11_ABI={openvino.cxx11_abi}", f"-ffile-prefix-map={_SOURCES}/="]
    with TemporaryDirectory(prefix="ov-gather-") as folder:
        jobs = []
        for number, (source, own) in enumerate(_parts()):
            output = Path(folder, f"{number}-{source.stem}.o")
            jobs.append([*compiler, *_FLAGS, *options, *own, *includes, "-c", str(source), "-o", str(output)])
        _run_all(jobs, openvino)
        link = _MACOS if sys.platform == "darwin" else _LINUX
        objects = [command[-1] for command in jobs]
        _run([*compiler, *objects, *map(str, linked), *link, "-o", str(library)], set())


def _compiler() -> list[str]:
    """Return the compiler command: $CXX, or the first of _COMPILERS found. Raises FileNotFoundError."""
    if sys.platform == "win32":
        raise FileNotFoundError("on Windows, the OpenVINO extension is not compiled on first use: build ov-gather from source")
    named = shlex.split(os.environ.get("CXX", ""))
    for command in [named] if named else [[name] for name in _COMPILERS]:
        if shutil.which(command[0]):
            return command
    raise FileNotFoundError(
        f"the OpenVINO extension is compiled on first use, and there is no C++17 compiler ({(named or _COMPILERS)[0]}): "
        "install one, on Debian or Ubuntu with: apt install g++"
    )


def _parts() -> Iterator[tuple[Path, list[str]]]:
    """Yield the sources with their own options, longest compile time first: lines.cpp once per instruction set."""
    lines = _SOURCES / "kernel" / "lines.cpp"
    sets = [line.split() for line in (lines.parent / "instruction_sets.txt").read_text().splitlines()]
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    for name, *flags in reversed(sets):
        if is_x86 or not flags:
            yield lines, [f"-DOV_GATHER_ISA={name}", *flags]
    for folder in ("extension", "kernel"):
        for source in sorted((_SOURCES / folder).glob("*.cpp")):
            if source != lines:
                yield source, []


def _run_all(commands: Sequence[Sequence[str]], openvino: OpenVINO) -> None:
    """Run commands in parallel on all cores, with a progress bar in terminals."""
    running: set[subprocess.Popen[str]] = set()
    with ThreadPoolExecutor(os.cpu_count()) as pool, _progress(openvino, len(commands)) as advance:
        try:
            for _ in pool.map(partial(_run, running=running), commands):
                advance()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                process.kill()
            raise


def _run(command: Sequence[str], running: set[subprocess.Popen[str]]) -> None:
    """Run a compiler command, which is in `running` meanwhile. Raises ImportError with the first error it prints."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        running.add(process)
        output, _ = process.communicate()
        running.discard(process)
    if process.returncode:
        told = output.splitlines() or [f"exit code {process.returncode}"]
        why = next((line for line in told if "error" in line), told[-1])
        raise ImportError(
            f"{command[0]} cannot compile the OpenVINO extension: {why.strip()} (let CXX name another compiler for C++17; or "
            "install another release of openvino)"
        )


@contextmanager
def _progress(openvino: OpenVINO, total: int) -> Iterator[Callable[[], None]]:
    if not sys.stderr or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"compiling our extension for OpenVINO {openvino.release}, once", total=total)
        yield lambda: progress.advance(task)

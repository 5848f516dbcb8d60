"""Compile the kernel and its C++ test program for Windows and macOS, and run what can be run: other_systems.py DIRECTORY

Windows needs Debian's g++-mingw-w64-x86-64-posix and wine64: the program is executed on each instruction set of this machine.
macOS on arm64 needs `pip install ziglang`, whose compiler brings libc++ and the interface of the system: nothing can execute
the result here. What is missing is skipped, and said. The exit code is 1 if a compilation or a test fails, or nothing is tried.
They take 1 and 2 minutes of processor time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "ov_gather" / "native"
FLAGS = ["-std=c++17", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
WINE = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")  # Debian's `wine64` is not on the path


@dataclass(frozen=True)
class System:
    """A system to compile for."""

    name: str
    compiler: list[str]
    is_compiler_there: bool
    library: str
    link: list[str]
    program: str
    emulator: list[str] | None
    all_instruction_sets: bool


SYSTEMS = [
    System(
        name="Windows on x86-64",
        compiler=["x86_64-w64-mingw32-g++-posix"],
        is_compiler_there=shutil.which("x86_64-w64-mingw32-g++-posix") is not None,
        library="ov_gather_kernel.dll",
        link=["-static"],  # libstdc++ and winpthreads: the DLL needs nothing but Windows
        program="kernel_test.exe",
        emulator=[WINE] if WINE else None,
        all_instruction_sets=True,
    ),
    System(
        name="macOS on arm64",
        compiler=[sys.executable, "-m", "ziglang", "c++", "-target", "aarch64-macos"],
        is_compiler_there=find_spec("ziglang") is not None,
        library="libov_gather_kernel.dylib",
        link=[],
        program="kernel_test",
        emulator=None,
        all_instruction_sets=False,
    ),
]


def compiled(system: System, folder: Path) -> Path:
    """Compile the kernel as CMakeLists.txt does, and the program that tests it; return the program."""
    folder.mkdir(parents=True, exist_ok=True)
    include = ["-I", NATIVE / "interface"]
    common = [*system.compiler, *FLAGS, *include, "-O2", "-DOV_GATHER_KERNEL_BUILDS"]
    objects = []
    for source in sorted((NATIVE / "kernel").glob("*.cpp")):
        if source.name != "lines.cpp":
            objects.append(folder / f"{source.stem}.o")
            run(*common, "-c", source, "-o", objects[-1])
    lines = (NATIVE / "kernel" / "instruction_sets.txt").read_text().splitlines()
    for isa, *flags in [line.split() for line in lines] if system.all_instruction_sets else [["baseline"]]:
        objects.append(folder / f"lines_{isa}.o")
        run(*common, *flags, f"-DOV_GATHER_ISA={isa}", "-c", NATIVE / "kernel" / "lines.cpp", "-o", objects[-1])
    run(*system.compiler, "-shared", *objects, *system.link, "-o", folder / system.library)
    source = ROOT / "tests" / "native" / "kernel_test.cpp"
    program = folder / system.program
    run(*system.compiler, *FLAGS, *include, "-O1", source, folder / system.library, *system.link, "-o", program)
    return program


def executed(system: System, program: Path) -> None:
    """Run the program on each instruction set."""
    emulated = [*(system.emulator or ()), program]
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(program.parent / "wine")}
    done = subprocess.run([*emulated, "--isas"], capture_output=True, text=True, check=True, env=environment)
    for isa in done.stdout.split():
        subprocess.run(emulated, check=True, env={**environment, "OV_GATHER_ISA": isa})


def run(*command: object) -> None:
    """Run a command. Raises CalledProcessError."""
    subprocess.run(list(map(str, command)), check=True)


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tried = 0
    for system in SYSTEMS:
        if not system.is_compiler_there:
            print(f"{system.name}: skipped: no {' '.join(system.compiler)}")
            continue
        try:
            program = compiled(system, Path(sys.argv[1]).resolve() / system.name.split()[0].lower())
            if system.emulator:
                executed(system, program)
            print(f"{system.name}: compiled{', tests passed' if system.emulator else '; nothing here executes it'}")
        except subprocess.CalledProcessError as error:
            print(f"{system.name}: {error.cmd[0]} failed: exit code {error.returncode}", file=sys.stderr)
            return 1
        tried += 1
    return 0 if tried else 1


if __name__ == "__main__":
    sys.exit(main())

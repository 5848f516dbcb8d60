"""Compile ov-gather for aarch64 and run the tests of its C++ in an emulator: python tests/tools/aarch64.py DIRECTORY

Needs Debian, with: apt install g++-aarch64-linux-gnu qemu-user. Python for aarch64, NumPy, OpenVINO and the other packages of
the tests are downloaded to DIRECTORY once (1 GB); the system is not changed, and root is not needed. CMake compiles the kernel
and its Python module; the extension is compiled as on first use. The tests are those marked `sanitized`, except slow ones: they
compare with NumPy bit by bit. It takes 5 minutes of CPU time. The exit code is 1 if a test fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PREFIX = "aarch64-linux-gnu"
NEEDED = {f"{PREFIX}-g++": f"g++-{PREFIX}", "qemu-aarch64": "qemu-user", "apt-get": "apt", "dpkg": "dpkg"}
DEBIAN = ("python3", "libpython3-dev", "libstdc++6")
PYTHON = ("numpy>=2", "lxml", "ml_dtypes", "click", "rich", "openvino", "onnx", "onnx-ir", "hypothesis", "coverage")
PYTHON += ("pytest", "pytest-timeout", "pytest-xdist")
GLIBC = ("2_17", "2_27", "2_28", "2_31", "2_34", "2_35")  # wheels for older versions also run
# QEMU kills a process forked from a multi-threaded one as soon as it starts a thread, also with plain Python.
NOT_EMULATED = ("--deselect", "tests/unit/test_kernel_patterns.py::test_a_process_that_was_forked_has_threads_of_its_own")


def run(*command: object, **variables: object) -> None:
    """Run a command with additional environment variables. Raises CalledProcessError."""
    print("+", *command[:9], *["..."] * (len(command) > 9), file=sys.stderr, flush=True)
    subprocess.run(list(map(str, command)), check=True, env={**os.environ, **{k: str(v) for k, v in variables.items()}})


def debian(folder: Path) -> Path:
    """Unpack Python and its libraries for aarch64, with an apt that has its own state and architecture."""
    root = folder / "root"
    if not root.is_dir():
        for name in ("state/lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "state" / "status").touch()
        (folder / "apt.conf").write_text(
            'APT::Architecture "arm64";\nAPT::Architectures {"arm64";};\nDebug::NoLocking "true";\n'
            f'Dir::State "{folder}/state";\nDir::State::status "{folder}/state/status";\nDir::Cache "{folder}/cache";\n'
        )
        run("apt-get", "-qq", "update", APT_CONFIG=folder / "apt.conf")
        options = ("-qq", "--yes", "--download-only", "--no-install-recommends")
        run("apt-get", *options, "install", *DEBIAN, APT_CONFIG=folder / "apt.conf")
        for package in (folder / "cache" / "archives").glob("*.deb"):
            run("dpkg", "-x", package, root)
    return root


def packages(folder: Path, version: str) -> Path:
    """Download the Python packages for aarch64."""
    site = folder / "site"
    if not site.is_dir():
        platforms = [f"--platform=manylinux_{release}_aarch64" for release in GLIBC]
        options = ["--quiet", f"--target={site}", "--only-binary=:all:", f"--python-version={version}", *platforms]
        run(sys.executable, "-m", "pip", "install", *options, "--platform=manylinux2014_aarch64", *PYTHON)
    return site


def built(folder: Path, root: Path, site: Path, version: str) -> Path:
    """Install the package without compiled parts, and the kernel into it; copy the tests into `checkout`, apart from it."""
    target, build, checkout = folder / "ov-gather", folder / "build", folder / "checkout"
    shutil.rmtree(target, ignore_errors=True)
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir()
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"--target={target}", ROOT)
    run(*pip, SKBUILD_WHEEL_CMAKE="false")
    cmake = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_C_COMPILER": f"{PREFIX}-gcc",
        "CMAKE_CXX_COMPILER": f"{PREFIX}-g++",
        "CMAKE_CXX_FLAGS": f"-idirafter {root}/usr/include",
        "SKBUILD": "ON",
        "SKBUILD_SOABI": f"cpython-{version.replace('.', '')}-{PREFIX}",
        "Python_EXECUTABLE": sys.executable,
        "Python_INCLUDE_DIR": root / "usr" / "include" / f"python{version}",
        "Python_NumPy_INCLUDE_DIR": site / "numpy" / "_core" / "include",
    }
    options = [f"-D{name}={value}" for name, value in cmake.items()]
    run("cmake", "-G", "Ninja", "-S", ROOT / "ov_gather" / "native", "-B", build, *options)
    run("cmake", "--build", build, "--target", "_native")
    run("cmake", "--install", build, "--prefix", target)
    for name in ("tests", "ir_samples"):
        shutil.copytree(ROOT / name, checkout / name)
    shutil.copy(ROOT / "pyproject.toml", checkout)
    return target


def tested(folder: Path, root: Path, site: Path, target: Path, version: str) -> None:
    """Validate the samples, compile the extension and run the tests, with the Python for aarch64."""
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec qemu-aarch64 -L {root} {root}/usr/bin/python{version} "$@"\n')
    python.chmod(0o755)
    (site / "sitecustomize.py").write_text(f"import sys\nsys.executable = {str(python)!r}\n")
    emulated = {"PYTHONPATH": f"{target}:{site}", "CXX": f"{PREFIX}-g++", "XDG_CACHE_HOME": folder / "cache"}
    os.chdir(folder / "checkout")
    run(python, "-c", "from ov_gather import _native; print(_native.available_isas())", **emulated)
    run(python, target / "bin" / "ov-gather", "validate", "ir_samples/valid", **emulated)
    run(python, target / "bin" / "ov-gather", "extension", "build", **emulated)
    paths = [path for path in sorted(Path("tests").glob("*/test_*.py")) if "mark.sanitized" in path.read_text()]
    options = ("-q", "-W", "error::RuntimeWarning", "-m", "sanitized", *NOT_EMULATED)
    run(python, "-m", "pytest", *options, *paths, **emulated)


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if missing := [package for command, package in NEEDED.items() if shutil.which(command) is None]:
        print(f"this needs Debian's packages: apt install {' '.join(missing)}", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        root = debian(folder)
        version = next(root.glob("usr/bin/python3.*[0-9]")).name.removeprefix("python")
        site = packages(folder, version)
        tested(folder, root, site, built(folder, root, site, version), version)
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd[0]} failed: exit code {error.returncode}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

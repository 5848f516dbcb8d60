"""Systems that lack something: one place for it in Python and in C++, and a package that works without the compiled parts."""

import ast
import os
import re
import subprocess
import sys

import pytest

from helpers.paths import ROOT, VALID
from ov_gather.runtimes.isolated import IsolatedRuntime
from ov_gather.system import launcher

PACKAGE = ROOT / "ov_gather"
NOT_ON_ALL = {"fcntl", "grp", "msvcrt", "pwd", "resource", "select", "termios", "winreg"}
NOT_IN_ALL = {"WNOHANG", "fork", "getuid", "killpg", "nice", "register_at_fork", "sched_getaffinity", "setsid", "uname"}
PLACES = {PACKAGE / "system" / "platforms.py", PACKAGE / "system" / "launcher.py"}  # the launcher runs where there are forks

HIDE = """
import os, select, socket, sys
sys.modules.update(dict.fromkeys(("fcntl", "resource")))
del os.fork, os.register_at_fork, os.sched_getaffinity, select.poll, socket.send_fds, socket.recv_fds
"""
USE = f"""
import pkgutil, sys
from importlib import import_module
import numpy as np
import ov_gather, ov_gather.converters
from ov_gather.workers.processes import in_processes
for package in (ov_gather, ov_gather.converters):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        # The extension is no module of Python, and PyTorch, which one module imports, needs what is hidden.
        if "libov_gather" not in module.name and not module.name.endswith("runtimes.pytorch"):
            import_module(module.name)
sample = {str(VALID / "spec_layer.xml")!r}
assert ov_gather.validate(sample) == []
data, indices = np.arange(1 << 20).reshape(1 << 10, -1), np.full((1 << 10, 3), -1)
assert (ov_gather.gather_elements(data, indices, 1) == data[:, -1:]).all()
assert (ov_gather.gather(data, indices) == data[-1]).all()
result = ov_gather.cross_check(sample)
assert result.passed and {{"kernel", "openvino"}} <= result.environment.versions.keys(), result.divergences
assert sorted(in_processes(len, ["a", "bc"], 2)) == [(0, 1), (1, 2)]
print("all done")
"""


@pytest.mark.openvino
def test_the_package_works_where_a_system_has_less(tmp_path):
    """The things that Windows or macOS do not have are hidden from this process and from those that it starts."""
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", USE], env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "all done\n"), done.stderr


def test_where_connections_are_no_files_runtimes_are_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(launcher.platforms, "HAS_SOCKETS_AS_FILES", False)
    with pytest.raises(OSError, match=r"^on Windows, runtimes cannot be executed in worker processes: use ov-gather on Linux"):
        IsolatedRuntime("kernel")


def test_only_one_module_uses_what_not_all_systems_have():
    uses = []
    for path in {*PACKAGE.rglob("*.py"), *(ROOT / "converters").rglob("*.py")} - PLACES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            names |= {node.module} if isinstance(node, ast.ImportFrom) else set()
            is_of_os = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
            if names & NOT_ON_ALL or (is_of_os and node.attr in NOT_IN_ALL):
                uses.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not uses, "\n".join(uses)


def test_only_two_pairs_of_files_have_code_for_one_compiler_or_system():
    special = re.compile(
        r"__builtin_|__attribute__|__declspec|__asm|unistd\.h|__linux__|__APPLE__|_WIN32|_MSC_VER|__x86_64__|__GNUC__"
    )
    sources = [path for path in (PACKAGE / "native").rglob("*.?pp") if path.stem not in ("platform", "cores")]
    uses = [path.name for path in sources if special.search(path.read_text())]
    assert len(sources) > 20
    assert not uses


# An import of the compiled module that fails, as it does where no compiler was at hand.
_HIDE = "import sys; sys.modules['ov_gather._native'] = None; import warnings, numpy as np, ov_gather; "


def test_one_warning_says_what_is_missing():
    code = _HIDE + (
        "warnings.simplefilter('always');[print(ov_gather.gather_elements(np.array([7, 8]), np.array([-1]))) for _ in range(3)]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[8]\n" * 3
    assert done.stderr.count("RuntimeWarning") == 1
    assert "compiled kernel is missing" in done.stderr
    assert "install a C++17 compiler" in done.stderr


def test_check_goes_without_the_extension_and_says_so(tmp_path):
    code = (
        "import sys; from ov_gather.extension import installed; from ov_gather.cli import main;"
        "installed.FILE_NAME = 'missing.so';"
        "sys.argv = ['ov-gather', 'check', 'ir_samples/valid/spec_layer.xml']; main()"
    )
    environment = {**os.environ, "CXX": "no-compiler", "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0
    header, _, row = done.stdout.splitlines()[:3]
    assert header.split() == ["layer", "cases", "kernel", "openvino", "onnxruntime"]
    cases, kernel, *_ = row.split()[1:]
    assert cases == kernel
    assert (
        "warning: the OpenVINO extension is compiled on first use, and there is no C++17 compiler (no-compiler)" in done.stderr
    )

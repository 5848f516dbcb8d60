"""Who imports whom: the modules of the package and of its tests, read from their sources."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from helpers.paths import ROOT
from ov_gather.system.traversal import reachable

PACKAGES = {"ov_gather": ROOT / "ov_gather", "ov_gather.converters": ROOT / "converters"}
NATIVE = ROOT / "ov_gather" / "native"
_TESTS = ROOT / "tests"
_TOOLS = _TESTS / "tools"
_TEMPLATE = ROOT / "docs" / "custom_layer"
"""What `ov-gather extension new` copies."""
_LOADS_NATIVE = ("ov_gather.kernels.native", "ov_gather.extension")
"""The modules through which others reach what is compiled."""
_REACHES_ALL = re.compile(r"\b(subprocess|cli|real_cli|refusal|isolated|adversary)\b")
"""What the source of a test has that runs the command line, another process, or the doors of the adversary."""


@dataclass(frozen=True)
class Import:
    """A line of a module that imports another module."""

    module: str
    imported: str
    place: str


@cache
def modules() -> dict[str, Path]:
    """Return the modules of the package by name; the compiled one by its source."""
    found = {"ov_gather._native": NATIVE / "python" / "python_module.cpp"}
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            if NATIVE not in path.parents:  # the build backend is no part of the package
                parts = [package, *path.relative_to(folder).with_suffix("").parts]
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(module: str, path: Path, known: dict[str, Path]) -> Iterator[Import]:
    """Yield every import of a known module, those in functions and for type checkers included."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
            base = base if node.level else str(node.module)
            names = [name if (name := f"{base}.{alias.name}") in known else base for alias in node.names]
        else:
            continue
        for name in names:
            if name in known and name != module:
                yield Import(module, name, f"{path.relative_to(ROOT)}:{node.lineno}")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def changed_files(revision: str) -> set[Path]:
    """Return what differs from a revision, uncommitted and new files included. Raises ValueError if git does not know it."""
    found: set[Path] = set()
    for command in (["diff", "--name-only", "--no-renames", revision, "--"], ["ls-files", "--others", "--exclude-standard"]):
        try:
            done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True)
        except FileNotFoundError:
            raise ValueError("there is no git to ask what has changed") from None
        if done.returncode:
            raise ValueError((done.stderr.strip() or f"git knows no {revision}").splitlines()[0])
        found |= {ROOT / line for line in done.stdout.splitlines()}
    return found


def reaching(changed: Collection[Path]) -> set[Path] | None:
    """Return the test modules that a change of these files reaches; None for any: imports do not show who reads samples.

    A test that starts processes, as those of the command line do, or loads modules by name may reach all of the package.
    """
    known = _with_tests()
    python = {path for path in changed if path in known.values()}
    if any(NATIVE in path.parents for path in changed):
        python |= {known[name] for name in _LOADS_NATIVE}
    pages = {path for path in changed if path.suffix == ".md" and _TEMPLATE not in path.parents}
    if {path for path in changed if NATIVE not in path.parents} - python - pages:  # deleted modules, too
        return None
    names = _importing(name for name, path in known.items() if path in python)
    of_tests = _importing(name for name, path in known.items() if path in python and _TESTS in path.parents)
    if "conftest" in of_tests:  # which product code reaches, too: through fixtures that tests name
        return None
    is_product = any(folder in path.parents for folder in PACKAGES.values() for path in python)
    tools = {path.relative_to(_TOOLS).with_suffix("").parts[0] for path in python if _TOOLS in path.parents}

    def is_reached(name: str, path: Path) -> bool:
        text = path.read_text(encoding="utf-8")
        return (
            name in names
            or any(_name(folder / "conftest.py") in of_tests for folder in path.parents)
            or (is_product and bool(_REACHES_ALL.search(text)))
            or (bool(pages) and ".md" in text)
            or any(re.search(rf"\b{tool}\b", text) for tool in tools)  # it may run that, or load it by name
        )

    return {path for name, path in known.items() if path.name.startswith("test_") and is_reached(name, path)}


def _importing(changed: Iterable[str]) -> set[str]:
    """Return the modules that import some modules, at any distance, and these."""
    return set(reachable(changed, lambda name: _users().get(name, ())))


@cache
def _with_tests() -> dict[str, Path]:
    """Return the modules of the package and of the tests, which stand in sys.path without `tests`."""
    return modules() | {_name(path): path for path in _TESTS.rglob("*.py")}


def _name(path: Path) -> str:
    """Return the name of a module of the tests; "" for one outside."""
    if _TESTS not in path.parents:
        return ""
    parts = path.relative_to(_TESTS).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _users() -> dict[str, set[str]]:
    """Return the modules that import each module."""
    users: dict[str, set[str]] = {}
    for module, path in _with_tests().items():
        for imported in _imported(module, path, _with_tests()):
            users.setdefault(imported, set()).add(module)
    return users


def _imported(module: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Return the modules that one imports, the packages around them, and the homes of the public names that it uses."""
    if path.suffix != ".py" or module in PACKAGES:  # the packages import by name, when asked
        return set()
    found = {line.imported for line in imports(module, path, known)}
    if module.endswith(".adversary"):  # imports them by name
        found |= {name for name in known if name.startswith("hostile.doors.")}
    homes = _homes()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Constant) and "." in str(node.value) and node.value in known:  # a plugin of pytest
            found.add(node.value)
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.ImportFrom) and node.module in PACKAGES):
            names = [node.attr] if isinstance(node, ast.Attribute) else [alias.name for alias in node.names]
            found |= {homes[name] for name in names if name in homes} if found & PACKAGES.keys() else set()
    return found | {name.rpartition(".")[0] for name in found} & known.keys() - PACKAGES.keys()


@cache
def _homes() -> dict[str, str]:
    """Return the module of each public name."""
    known = modules()
    homes: dict[str, str] = {}
    for package, folder in PACKAGES.items():
        for node in ast.walk(_tree(folder / "__init__.py")):
            if isinstance(node, ast.ImportFrom) and node.module:
                home = f"{package}.{node.module}" if node.level else node.module
                homes |= {alias.name: home for alias in node.names if home in known}
    return homes

"""New projects from the template of a custom layer, docs/custom_layer/: copied, with the names in it replaced."""

from __future__ import annotations

import builtins
import errno
import io
import keyword
import os
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from tempfile import TemporaryDirectory

from ov_gather.extension.installed import find
from ov_gather.system import logs
from ov_gather.system.interrupts import held

_TYPE = re.compile(r"(?!.{81})[A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
"""What is an identifier in C++ and Python, no keyword and not reserved, and begins with a capital letter as types do.

Names of files are made of it, which file systems limit to 255 bytes.
"""
_MACRO = re.compile(
    r"[A-Z0-9]+(_[A-Z0-9]+)+|NULL|FILE|W?EOF|BUFSIZ|S?NAN[A-Z0-9]*|INFINITY|MAXFLOAT|NZERO|NFDBITS|CSIGNAL|NOMINMAX|GLUE"
    r"|PARTITIONING|W[A-Z]+ED|WTERMSIG|WSTOPSIG|WEXITSTATUS|WNOHANG|WNOWAIT"
)
"""Macros of the headers of C, C++ and OpenVINO beside those of errno.h, and the type FILE, which a class cannot be called."""
_OPSET = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")
_RESERVED = re.compile(r"opset\d+|ov_gather|aten|at|prims?|torch|pytorch")
"""Opsets of OpenVINO and of ours, and namespaces that PyTorch keeps for its own operators."""
_USED = {"numpy", "onnx", "openvino", "ov_gather", "pytest", "torch", "make_model", "host", "tests"}
_USED |= {"all", "clean", "help", "install", "package", "preinstall", "test"}
_USED |= {"build", "cmake", "conftest", "dist", "ninja", "pip", "scikit_build_core", "setup", "setuptools", "wheel"}
"""Modules that the files of a project import, the target `host` of its CMakeLists.txt, targets that CMake reserves, and what
tools that build or test a project look for by its name."""
_NAMES = re.compile(r"Snake|snake|\bexample\b")
"""The names in the template: of the type, of files and packages, and of the opset."""
_MADE = {"build", "dist", "__pycache__"}
"""Directories that a build in the template leaves there."""
_TYPE_NAME = re.compile(r"\b[A-Z]\w*")
_NOT_CODE = re.compile(r'//.*|"(?:\\.|[^"\\\n])*"')
"""Comments and strings of C++."""
_PINNED = re.compile(r"(?<=openvino==)\d+\.\d+\.\d+(?=\")")


def create(name: str, folder: Path, *, opset: str | None = None, openvino_types: Mapping[str, str]) -> list[Path]:
    """Write a project for a new operation into a new or empty directory, and return the paths of its files.

    Args:
        name: the type of the operation, such as "GridSample3D". Files, library and package are called `grid_sample3d`.
        folder: is created if it is missing; its parent must exist.
        opset: the opset, also the domain in ONNX and the namespace in PyTorch; `grid_sample3d` by default.
        openvino_types: by lower-case name, the types of OpenVINO's own operations, which a new operation must not have.

    Raises:
        ValueError: a name is no identifier, or is taken.
        OSError: the directory is not empty, or cannot be written. Nothing is written then.
        ImportError: OpenVINO is not installed: the project is for the installed release.
    """
    file_name = _file_name(name, openvino_types)
    opset = file_name if opset is None else opset
    if not _OPSET.fullmatch(opset) or _RESERVED.fullmatch(opset):
        raise ValueError(
            f"'{opset}' cannot be the opset: give up to 80 letters, digits and _, none of OpenVINO's, PyTorch's or ours, "
            "as 'mine'"
        )
    place = _checked(folder)
    is_new, release = not place.exists(), find().release
    try:
        with TemporaryDirectory(dir=place.parent if is_new else place, prefix=".new.") as work:
            project = Path(work, place.name)
            project.mkdir()
            written = [
                folder / path for path in _write(project, {"Snake": name, "snake": file_name, "example": opset}, release)
            ]
            if is_new:
                project.replace(place)
            else:  # perhaps the current directory, which must stay the same one
                with held():
                    for path in project.iterdir():
                        path.rename(place / path.name)
    except OSError as error:  # it names a temporary directory
        raise OSError(error.errno, error.strerror, str(folder)) from None
    logs.info("files", "%s: written", folder)
    return written


def _file_name(name: str, openvino_types: Mapping[str, str]) -> str:
    """Return the name of files for a type: GridSample3D -> grid_sample3d. Raises ValueError."""
    if not _TYPE.fullmatch(name):
        raise ValueError(
            f"'{name}' cannot be the type: give an identifier that begins with a capital, such as GridSample3D, of up to 80"
        )
    if keyword.iskeyword(name):
        raise ValueError(f"'{name}' cannot be the type: it is a word of Python; choose another name")
    if _MACRO.fullmatch(name) or hasattr(errno, name):
        raise ValueError(
            f"'{name}' cannot be the type: it is a macro of C, or may be one; write {name.title().replace('_', '')}"
        )
    if taken := openvino_types.get(name.lower()):
        raise ValueError(f"'{name}' cannot be the type: {taken} is an operation of OpenVINO; choose another name")
    file_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name).lower()
    if file_name in {*keyword.kwlist, *dir(builtins), *sys.stdlib_module_names, *_USED}:
        raise ValueError(f"'{name}' cannot be the type: its package would be called '{file_name}', which is taken")
    return file_name


def _checked(folder: Path) -> Path:
    """Return the absolute path of a directory that is empty, or is missing and can be made. Raises OSError."""
    place = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow links
    if place.is_symlink() and not place.exists():
        raise FileExistsError(f"{folder} is a link to nothing: give a new directory")
    if place.is_dir() and any(place.iterdir()):
        raise FileExistsError(f"{folder} is not empty: give a new directory")
    if place.exists() and not place.is_dir():
        raise FileExistsError(f"{folder} is a file: give a new directory")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {place.parent} to make {place.name} in")
    return place


def _write(project: Path, names: Mapping[str, str], release: str) -> Iterator[Path]:
    """Copy the template with other names and for a release of OpenVINO, and yield the paths within the project."""
    template = _template()
    for source in sorted(template.rglob("*")):
        path = source.relative_to(template)
        if source.is_file() and not _MADE & set(path.parts):
            copy = Path(_renamed(path.as_posix(), names))
            if (project / copy).exists():
                raise ValueError(f"'{names['Snake']}' cannot be the type: the project has a file {copy} of its own")
            (project / copy).parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            if taken := {names["Snake"], names["snake"]} & (_identifiers(source, text) - {"Snake", "snake"}):
                raise ValueError(f"'{names['Snake']}' cannot be the type: {copy} calls something else '{taken.pop()}'")
            (project / copy).write_text(_PINNED.sub(release, _renamed(text, names)), encoding="utf-8")
            yield copy


def _template() -> Path:
    """Return the template: in a wheel it is beside this file, in a checkout in docs/."""
    shipped = Path(__file__).with_name("template")
    return shipped if shipped.is_dir() else Path(__file__).parents[2] / "docs" / "custom_layer"


def _identifiers(path: Path, text: str) -> Set[str]:
    """Return the names in a source of Python, and the names of types in one of C++."""
    if path.suffix == ".py":
        return {token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.NAME}
    return {*_TYPE_NAME.findall(_NOT_CODE.sub("", text))} if path.suffix in (".cpp", ".hpp") else set()


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _NAMES.sub(lambda match: names[match[0]], text)

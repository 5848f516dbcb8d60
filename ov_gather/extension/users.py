"""Operations of users: libraries and classes of `openvino.Op`, as --extension and `extensions=` name them.

`loaded` loads each in a process of its own first, because a library can crash or hang; `new_core` adds them to a core.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ov_gather.extension import extension_path, reason, register
from ov_gather.extension.installed import find

if TYPE_CHECKING:
    from openvino import Core

TIME_LIMIT = 60.0
"""Seconds that loading may take."""
_CLASS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_PROGRAM = "import sys; sys.path[:] = {path!r}; from ov_gather.extension import probe; probe.main()"
_OTHER_RELEASE = re.compile(r"lib(?:openvino|tbb)\w*\.(?:so\.)?(\d\d)(\d)(\d)(?:\.dylib)?:? ")
_HAPPENED = "This error happened: "
"""OpenVINO's words before the error of the system or of the library."""
_NO_LIBRARY = ("invalid ELF header", "file too short", "not a mach-o file")


class ExtensionError(ValueError):
    """An extension cannot be loaded. The message names it, and says what would be right."""


@dataclass(frozen=True, slots=True)
class UserExtension:
    """A library or class that was loaded once, in another process.

    Attributes:
        name: the absolute path of the library, or "module:Class".
        digest: a hash of the library, or of the file of the class; a worker process that has loaded another one is not reused.
    """

    name: str
    digest: str


Given: TypeAlias = "str | os.PathLike[str] | type | UserExtension"
"""How a user names an extension: the path of a library, "module:Class", or a class that another process can import."""


def loaded(extensions: Iterable[Given]) -> tuple[UserExtension, ...]:
    """Return the extensions after loading each in a process of its own, unless this process has done so before.

    Raises:
        ExtensionError: one cannot be loaded, crashes or hangs when it is loaded, or two register the same operation.
        TypeError: `extensions` is no list, or holds something else.
        ImportError: OpenVINO is not installed.
    """
    if isinstance(extensions, str | os.PathLike) or not isinstance(extensions, Iterable):
        raise TypeError(f"extensions must be a list such as ['libsnake.so', 'my_ops:Snake'], not {extensions!r}")
    listed = list(extensions)
    names = [given.name if isinstance(given, UserExtension) else _name(given) for given in listed]
    if twice := next((name for position, name in enumerate(names) if name in names[:position]), ""):
        raise ExtensionError(f"{twice} is given twice: give it once")
    ready = {given.name: given for given in listed if isinstance(given, UserExtension)}
    new = [name for name in names if name not in ready]
    if new and not _are_known(names):
        _known.update(_probed(names))
    _refuse_twins({name: _known[name] for name in names} if new else {})
    return tuple(ready.get(name) or _known[name].extension for name in names)


def new_core(extensions: Sequence[UserExtension] = (), *, ours: bool = False) -> Core:
    """Return a core with these extensions and, if wanted, our operations.

    Raises:
        ExtensionError: an extension cannot be loaded.
        FileNotFoundError, ImportError, OSError: ours cannot be had, as in `register`.
    """
    import openvino

    core = openvino.Core()
    for extension in extensions:
        add(core, extension.name)
    return register(core) if ours else core


def core_for_reading(extensions: Sequence[UserExtension] = ()) -> Core:
    """Return a core with these extensions and, unless there is no compiler for them, our operations."""
    try:
        return new_core(extensions, ours=True)
    except FileNotFoundError:
        return new_core(extensions)


def add(core: Core, name: str) -> Any:
    """Add an extension to a core; return what `class_of` returns, or None for a library. Raises ExtensionError."""
    found = class_of(name) if is_class(name) else None
    try:
        core.add_extension(found or name)
    except (RuntimeError, TypeError) as error:
        raise ExtensionError(f"{name} {_why(error, found)}") from None
    return found


def is_class(name: str) -> bool:
    """Return True if a name is "module:Class" rather than a path."""
    return bool(_CLASS.fullmatch(name)) and not _exists(Path(name))


def file_of(name: str) -> Path | None:
    """Return the file that holds an extension, without importing it; None if its module is not found."""
    if not is_class(name):
        return Path(name)
    package, *rest = name.partition(":")[0].split(".")
    try:
        spec = find_spec(package)
    except ValueError:  # __main__, or a module that was made up
        return None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent.joinpath(*rest).with_suffix(".py") if rest else Path(spec.origin)


def _exists(path: Path) -> bool:
    with suppress(OSError):  # the name is too long, or the directory is not this user's
        return path.exists()
    return False


def class_of(name: str) -> Any:
    """Import a class of `openvino.Op`, or an `openvino.Extension` that converts operators. Raises ExtensionError."""
    import openvino

    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
    except Exception as error:  # a module of a user raises anything
        how = f"{type(error).__name__}: {error}"
        raise ExtensionError(f"{name} cannot be imported ({how}): its module must be in this directory, or installed") from None
    for part in path.split("."):
        if not hasattr(found, part):
            raise ExtensionError(f"{name} cannot be imported: {module} has no {path}")
        found = getattr(found, part)
    if isinstance(found, getattr(openvino, "Extension", ())):  # such as a ConversionExtension
        return found
    base = getattr(openvino, "Op", None)
    if base is None:
        raise ExtensionError(f"{name}: OpenVINO {find().release} takes no operations in Python: build a library")
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ExtensionError(f"{name} is no class of openvino.Op: derive the operation from it")
    return found


def _name(given: str | os.PathLike[str] | type) -> str:
    """Return the name of an extension. Raises ExtensionError for a path without a file, TypeError for anything else."""
    if isinstance(given, type):
        if given.__module__ == "__main__" or "<" in given.__qualname__:
            raise ExtensionError(f"{given.__qualname__} cannot be imported by other processes: put the class into a module")
        return f"{given.__module__}:{given.__qualname__}"
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"an extension must be the path of a library, 'module:Class' or a class of openvino.Op, not {given!r}")
    text = os.fspath(given)
    if is_class(text):
        return text
    path = Path(text).absolute()
    if not text or not _exists(path):
        raise ExtensionError(f"{text or repr(text)}: there is no such file: give a library, or module:Class")
    if not path.is_file():
        raise ExtensionError(f"{text} is no file: give a library built for OpenVINO {find().release}")
    return str(path)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """An extension, the file that holds it, and its operations, each as "type opset"."""

    extension: UserExtension
    file: str
    operations: Sequence[str]


_known: dict[str, _Loaded] = {}


def _are_known(names: Sequence[str]) -> bool:
    return all(name in _known and _digest(_known[name].file) == _known[name].extension.digest for name in names)


def _digest(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise ExtensionError(f"{file} cannot be read ({error.strerror})") from None


def _probed(names: Sequence[str]) -> Mapping[str, _Loaded]:
    """Load extensions in a new process, one after another. Raises ExtensionError, ImportError."""
    import json  # not needed by those who have no extension
    import subprocess
    from tempfile import TemporaryFile

    find()
    with suppress(ImportError, OSError):
        extension_path()  # if it must be compiled, do so here, with a progress bar and no time limit
    digests = {name: _digest(name) for name in names if not is_class(name)}
    command = [sys.executable, "-c", _PROGRAM.format(path=sys.path), *names]
    with TemporaryFile() as file:  # a pipe stays open as long as processes that a library starts
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL, timeout=TIME_LIMIT, check=False
            )
            how = _end(done.returncode)
        except subprocess.TimeoutExpired:
            how = f"hangs when it is loaded: it does not end within {TIME_LIMIT:g} s"
        file.seek(0)
        answers = [json.loads(line) for line in file]
    found: dict[str, _Loaded] = {}
    for name, answer in zip(names, answers, strict=False):
        if error := answer.get("error"):
            raise ExtensionError(error)
        digest = digests.get(name) or _digest(answer["file"])
        found[name] = _Loaded(UserExtension(name, digest), answer["file"], answer["operations"])
    if len(answers) < len(names):
        raise ExtensionError(f"{names[len(answers)]} {how}")
    return found


def _end(code: int) -> str:
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"crashes when it is loaded ({how}): neither what it initialises nor its entry point may fail"


def _refuse_twins(found: Mapping[str, _Loaded]) -> None:
    """Raise ExtensionError if an operation is registered twice: OpenVINO would take one of both, without a word."""
    owners: dict[str, str] = {}
    for name, each in found.items():
        for operation in each.operations:
            kind, _, opset = operation.partition(" ")
            what = f"operation {kind} of opset '{opset}'"
            if owners.get(operation) == name:
                raise ExtensionError(f"{name} registers {what} twice: list it once in OPENVINO_CREATE_EXTENSIONS")
            if operation in owners:
                raise ExtensionError(f"{name} registers {what}, as {owners[operation]} does: give only one of them")
            owners[operation] = name


def _why(error: Exception, found: object) -> str:
    """Return why OpenVINO does not load an extension, and what would be right."""
    text, release = str(error), find().release
    right = f"build it for OpenVINO {release}, which is installed"
    if found is not None:
        return f"is refused by OpenVINO {release}, which creates it without arguments: {reason(RuntimeError(text))}"
    if "create_extensions" in text:
        return "is no extension of OpenVINO: it lacks the entry point that OPENVINO_CREATE_EXTENSIONS(...) makes"
    if any(words in text for words in _NO_LIBRARY):
        return f"is no shared library: {right}"
    if match := _OTHER_RELEASE.search(text):
        return f"is built for OpenVINO 20{match[1]}.{match[2]}.{match[3]}: {right}"
    return f"cannot be loaded ({reason(RuntimeError(text)).rpartition(_HAPPENED)[2]}): {right}"

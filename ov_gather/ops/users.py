"""Operations that users declare: every `Operation` in a module of theirs, which --ops, `declare` or an entry point names.

A declaration is code of the user, and may be wrong: `fields` checks what it says, and `functions` what its functions do.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import RLock
from typing import TypeAlias
from warnings import warn

from ov_gather import ops
from ov_gather.ops import OPERATIONS
from ov_gather.ops.fields import OperationError
from ov_gather.ops.spec import Operation

GROUP = "ov_gather.operations"
"""The group of entry points by which an installed package declares operations: each names a module."""


@dataclass(frozen=True, slots=True)
class UserOperations:
    """A file that declares operations.

    Attributes:
        name: its absolute path.
        digest: a hash of the file.
    """

    name: str
    digest: str


Given: TypeAlias = "str | os.PathLike[str] | UserOperations"


@dataclass(frozen=True, slots=True)
class _Declared:
    digest: str
    operations: Sequence[Operation]


_declared: dict[str, _Declared] = {}
_LOCK = RLock()


def declare(*files: Given) -> tuple[UserOperations, ...]:
    """Make operations of users known to this process: to `validate`, `execute`, `cross_check`, `prove`, `harden`.

    Each module-level `Operation` of a file is one declaration. A file that was changed since replaces its declarations.
    Installed packages declare theirs by entry points of the group "ov_gather.operations". Each names a module; if it fails, a
    warning says so.

    Args:
        files: paths of Python files, which are executed.

    Returns:
        The files with their digests, for other processes.

    Raises:
        TypeError: what is given is no path.
        ValueError: a file cannot be read or executed, declares no operation, or declares one that is known already.
    """
    with _LOCK:
        _declare_installed()
        return tuple(map(_declare, files))


def declare_only(files: Iterable[UserOperations]) -> None:
    """Declare these files, and forget others that this process knows. Raises OperationError."""
    files = tuple(files)
    for name in {name for name, declared in _declared.items() if declared.digest} - {file.name for file in files}:
        ops.remove(_declared.pop(name).operations)
    declare(*files)


def are_declared() -> bool:
    """Return True if users declared operations in this process."""
    return bool(_declared)


def declared_files() -> tuple[UserOperations, ...]:
    """Return the files that were declared in this process."""
    return tuple(UserOperations(name, declared.digest) for name, declared in _declared.items() if declared.digest)


def operations_of_files() -> list[Operation]:
    """Return the operations that files declare, without those of installed packages."""
    return [operation for declared in _declared.values() if declared.digest for operation in declared.operations]


def _declare(given: Given) -> UserOperations:
    if not isinstance(given, str | os.PathLike | UserOperations):
        raise TypeError(f"declare: give paths of Python files that declare operations, not {type(given).__name__}")
    path = Path(given.name if isinstance(given, UserOperations) else given).absolute()
    try:
        if path.exists() and not path.is_file():
            raise OperationError(f"{path} is no file: give a Python file that declares operations")
        source = path.read_bytes()
    except OSError as error:
        raise OperationError(f"{path}: {error.strerror}: give a Python file that declares operations") from None
    digest = hashlib.sha256(source).hexdigest()
    if isinstance(given, UserOperations) and given.digest != digest:
        raise OperationError(f"{path} is not the file that was given: it has been changed, or is another one on this machine")

    def find() -> list[Operation]:
        from ov_gather.ops.declarations import executed  # imported late: most commands declare nothing

        return executed(path, source)

    _replace(str(path), digest, find)
    return UserOperations(str(path), digest)


@cache
def _declare_installed() -> None:
    """Declare the operations of installed packages. Warn of a package that fails: other models need not wait for its repair."""
    if not are_installed():
        return
    from importlib.metadata import entry_points
    from multiprocessing import parent_process

    from ov_gather.ops.declarations import imported

    try:
        points = list(entry_points(group=GROUP))
    except Exception as error:  # the metadata of some package are damaged; which, it does not say
        warn(f"operations of installed packages are left out: an entry_points.txt is damaged ({error})", stacklevel=3)
        return
    for point in points:
        package = point.dist.name if point.dist else point.value
        try:
            _replace(point.value, "", partial(imported, point))
        except OperationError as error:
            what = f"entry point {point.name} = {point.value} of {GROUP}"
            if parent_process() is None:  # a worker need not repeat it
                warn(f"package {package} declares operations that are left out ({what}): {error}", stacklevel=3)


@cache
def are_installed() -> bool:
    """Return True if an installed package names the group. Every command asks, and pathlib takes twice as long."""
    for folder in sys.path:
        with suppress(OSError):
            infos = [name for name in os.listdir(folder or ".") if name.endswith("-info")]  # noqa: PTH208
            if any(GROUP.encode() in _content(f"{folder}/{name}/entry_points.txt") for name in infos):
                return True
    return False


def _content(path: str) -> bytes:
    """Return the first MiB of a file; nothing if it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, 1 << 20)
    finally:
        os.close(file)


def _replace(name: str, digest: str, find: Callable[[], list[Operation]]) -> None:
    """Replace what a file or an entry point declares, unless it is unchanged. Raises OperationError."""
    before = _declared.get(name)
    if before and before.digest == digest:
        return
    operations = _unchanging(name, find)
    for other, declared in _declared.items():
        known = {(operation.type, opset) for operation in declared.operations for opset in operation.opsets}
        for operation in operations if other != name else ():
            if twice := [opset for opset in operation.opsets if (operation.type, opset) in known]:
                raise OperationError(f"{name} declares {operation.type} of opset '{twice[0]}', as {other} does: give only one")
    registry = ops.snapshot()
    ops.remove(before.operations if before else ())
    try:
        ops.add(operations)
    except ValueError as error:
        ops.restore(registry)
        raise OperationError(f"{name}: {error}") from None
    _declared[name] = _Declared(digest, operations)


def _unchanging(name: str, find: Callable[[], list[Operation]]) -> list[Operation]:
    """Return what is found in a file or package. Raises OperationError if its code changes what is known already."""
    registry, declared = ops.snapshot(), dict(_declared)
    found: list[Operation] | OperationError
    try:
        found = find()
    except OperationError as error:
        found = error
    finally:
        is_changed = ops.snapshot() != registry or ops.OPERATIONS is not OPERATIONS
        ops.restore(registry)
        ops.OPERATIONS = OPERATIONS
        _declared.clear()
        _declared.update(declared)
    if is_changed:
        found = OperationError(
            f"{name} changes the operations that are known: only put an Operation into a variable of the module"
        )
    if isinstance(found, OperationError):
        raise found
    return found

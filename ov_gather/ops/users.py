"""Operations that users declare: every `Operation` in a module of theirs, which --ops, `declare` or an entry point names.

A declaration is code of the user, and may be wrong. Its functions are wrapped, so that an error of theirs names the file and
the line, and is not mistaken for a fault of a library or of this package.
"""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from ov_gather import ops
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.spec import Arrays, Attributes, Operation, ShapeError, Shapes, TypeRuleError

GROUP = "ov_gather.operations"
"""The group of entry points by which an installed package declares operations: each names a module."""


class OperationError(ValueError):
    """A declaration of an operation is wrong. The message names the file, the line, and what is wrong."""


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


def declare(*files: Given) -> tuple[UserOperations, ...]:
    """Make operations of users known to this process: to `validate`, `execute`, `cross_check`, `prove`, `harden`.

    Each module-level `Operation` of a file is one declaration. A file that was changed since replaces its declarations.
    Installed packages declare theirs by entry points of the group "ov_gather.operations", each of which names a module.

    Args:
        files: paths of Python files, which are executed.

    Returns:
        The files with their digests, for other processes.

    Raises:
        ValueError: a file cannot be read or executed, declares no operation, or declares one that is known already.
    """
    _declare_installed()
    return tuple(map(_declare, files))


def are_declared() -> bool:
    """Return True if users declared operations in this process."""
    return bool(_declared)


def declared_files() -> tuple[UserOperations, ...]:
    """Return the files that were declared in this process."""
    return tuple(UserOperations(name, declared.digest) for name, declared in _declared.items() if declared.digest)


def _declare(given: Given) -> UserOperations:
    path = Path(given.name if isinstance(given, UserOperations) else given).absolute()
    try:
        source = path.read_bytes()
    except OSError as error:
        raise OperationError(f"{path}: {error.strerror}: give a Python file that declares operations") from None
    digest = hashlib.sha256(source).hexdigest()
    if isinstance(given, UserOperations) and given.digest != digest:
        raise OperationError(f"{path} is not the file that was given: it has been changed, or is another one on this machine")
    _replace(str(path), digest, lambda: _executed(path, source))
    return UserOperations(str(path), digest)


@cache
def _declare_installed() -> None:
    """Declare the operations of installed packages, by their entry points. Raises OperationError."""
    if not _are_installed():
        return
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        name = f"entry point {point.name} = {point.value}"
        try:
            found = point.load()
        except (Exception, SystemExit) as error:  # a package of others raises anything
            raise OperationError(f"{name} of {GROUP} {_how(error, '')}") from None
        _replace(name, "", partial(_values, found))


def _are_installed() -> bool:
    """Return True if an installed package names the group; asking `importlib.metadata` takes ten times as long."""
    folders = (Path(folder) for folder in sys.path)
    return any(GROUP.encode() in file.read_bytes() for folder in folders for file in folder.glob("*-info/entry_points.txt"))


def _values(found: object) -> Iterable[Any]:
    return list(vars(found).values()) if isinstance(found, ModuleType) else [found]


def _replace(name: str, digest: str, values: Callable[[], Iterable[Any]]) -> None:
    """Replace what a file or an entry point declares, unless it is unchanged. Raises OperationError."""
    before = _declared.get(name)
    if before and before.digest == digest:
        return
    ours = set(map(id, ops.OPERATIONS))  # a file may import one to derive its own
    declarations = (value for value in values() if isinstance(value, Operation) and id(value) not in ours)
    found = list({id(value): value for value in declarations}.values())
    if not found:
        raise OperationError(
            f"{name} declares no operation: put an Operation of ov_gather.ops.spec into a variable of the module"
        )
    operations = [_checked(operation, name) for operation in found]
    for other, declared in _declared.items():
        if other == name:
            continue
        known = {(operation.type, opset) for operation in declared.operations for opset in operation.opsets}
        for operation in operations:
            if twice := [opset for opset in operation.opsets if (operation.type, opset) in known]:
                raise OperationError(f"{name} declares {operation.type} of opset '{twice[0]}', as {other} does: give only one")
    ops.remove(before.operations if before else ())
    added: list[Operation] = []
    try:
        for operation in operations:
            ops.add([operation])
            added.append(operation)
    except ValueError as error:
        ops.remove(added)
        ops.add(before.operations if before else ())
        raise OperationError(f"{name}: {error}") from None
    _declared[name] = _Declared(digest, operations)


def _executed(path: Path, source: bytes) -> Iterable[Any]:
    """Execute a file as a module, and return its values. Raises OperationError."""
    module = ModuleType(f"ov_gather_operations_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:  # a file of a user raises anything
        raise OperationError(_how(error, str(path))) from None
    return list(vars(module).values())


def _how(error: BaseException, file: str) -> str:
    """Describe an error, with the last line of a file on its way: a text such as "my_ops.py:7: NameError: ..."."""
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{file}:{error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}: {what}" if lines else f"{file}: {what}" if file else f"cannot be imported ({what})"


def _checked(operation: Operation, name: str) -> Operation:
    """Return an operation whose functions are checked: what they raise and return is named as the fault of the declaration."""

    def fault(function: str, what: str) -> OperationError:
        return OperationError(f"{name}: the {function} of {operation.name} is wrong: {what}")

    def checked(function: str, *expected: type[Exception]) -> Any:
        own = getattr(operation, function)

        @wraps(own)
        def call(*arguments: Any) -> Any:
            try:
                return own(*arguments)
            except expected:
                raise
            except (Exception, SystemExit) as error:  # a function of a user raises anything
                raise fault(function, _how(error, own.__code__.co_filename if hasattr(own, "__code__") else "")) from error

        return call

    infer, compute, types = (
        checked("infer_shapes", ShapeError),
        checked("reference", *([IndexError] if operation.index_rule else [])),
        checked("infer_types", TypeRuleError),
    )

    def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape, ...]:
        found = infer(shapes, attributes)
        if not isinstance(found, tuple | list) or not all(isinstance(shape, PartialShape) for shape in found):
            raise fault("infer_shapes", f"it must return a list of PartialShape, one for each output, not {found!r}")
        if len(found) != len(operation.outputs):
            raise fault("infer_shapes", f"it returns {len(found)} shapes for {len(operation.outputs)} outputs")
        return tuple(found)

    def reference(inputs: Arrays, attributes: Attributes) -> Arrays:
        import numpy as np

        from ov_gather.ir.element_types import by_dtype

        kept = [array.copy() for array in inputs]
        with np.errstate(all="ignore"):
            found = compute(kept, attributes)
        if not isinstance(found, tuple | list) or len(found) != len(operation.outputs):
            what = type(found).__name__ if not isinstance(found, tuple | list) else f"{len(found)} arrays"
            raise fault("reference", f"it must return {len(operation.outputs)} arrays in a list or tuple, not {what}")
        wanted = infer_shapes([PartialShape.of(array.shape) for array in inputs], attributes)
        kinds = types([by_dtype(array.dtype) for array in inputs])
        outputs = [np.asarray(output) for output in found]
        for output, shape, kind, called in zip(outputs, wanted, kinds, operation.outputs, strict=True):
            if output.shape not in shape:
                raise fault("reference", f"{called} has shape {list(output.shape)}, and infer_shapes says {shape}")
            if kind and output.dtype != kind.dtype:
                raise fault("reference", f"{called} is {output.dtype}, and infer_types says {kind}")
        return outputs

    return replace(
        operation,
        infer_shapes=infer_shapes,
        reference=reference,
        infer_types=types,
        restrict=checked("restrict", ShapeError),
        choose_sizes=checked("choose_sizes", ShapeError, IndexError),
    )

"""Operations in the files and packages of users: their code is executed, and each `Operation` in its variables is checked."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ov_gather.ops import OPERATIONS
from ov_gather.ops.fields import OperationError
from ov_gather.ops.functions import checked, running
from ov_gather.ops.spec import Operation
from ov_gather.ops.table import ENDS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

RESERVED = re.compile(r"opset\d+|ov_gather")
"""Opsets of OpenVINO, and ours."""
_MODULE = re.compile(r"[^\W\d][\w.]*(\s*:\s*[^\W\d][\w.]*)?(\s*\[.*\])?")
"""What an entry point names."""


def executed(path: Path, source: bytes) -> list[Operation]:
    """Execute a file as a module, and return its operations. Raises OperationError."""
    module = ModuleType(f"ov_gather_operations_{path.stem}_{hashlib.sha256(bytes(path)).hexdigest()[:8]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        with running("", str(path)):
            exec(compile(source, str(path), "exec"), vars(module))
    except OperationError as error:
        del sys.modules[module.__name__]
        raise OperationError(f"{error}{_hint(error.__cause__, path.parent)}") from None
    return _among(vars(module).values(), str(path))


def _hint(error: BaseException | None, directory: Path) -> str:
    """Return how a module beside a file is imported; "" if none was missing."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    is_beside = bool(name) and ((directory / f"{name}.py").is_file() or (directory / name).is_dir())
    return f": {name} is beside the file, where Python does not look: set PYTHONPATH={directory}" if is_beside else ""


def imported(point: EntryPoint) -> list[Operation]:
    """Import what an entry point names, a module or an operation, and return the operations. Raises OperationError."""
    if not _MODULE.fullmatch(point.value):
        raise OperationError(f"'{point.value}' is no module: write {point.name} = package.module, or package.module:variable")
    with running("", f"{point.value} of package {point.dist.name}" if point.dist else point.value):
        found = point.load()
    return _among(vars(found).values() if isinstance(found, ModuleType) else [found], point.value)


def _among(values: Iterable[Any], name: str) -> list[Operation]:
    """Return the operations among the values of a file or package, checked. Raises OperationError."""
    ours = set(map(id, OPERATIONS))  # a file may import one to derive its own
    declarations = (value for value in values if issubclass(type(value), Operation) and id(value) not in ours)
    found = list({id(value): value for value in declarations}.values())
    if not found:
        raise OperationError(
            f"{name} declares no operation: put an Operation of ov_gather.ops.spec into a variable of the module"
        )
    for operation in found:
        taken = [f"opset '{opset}'" for opset in operation.opsets if RESERVED.fullmatch(opset)]
        if operation.type in ENDS:
            taken = [f"type '{operation.type}'"]
        if taken:
            raise OperationError(f"{name}: {operation.name}: {taken[0]} is taken: give one of yours, such as 'mine'")
    return [checked(operation, name) for operation in found]

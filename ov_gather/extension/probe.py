"""Process that loads extensions of users, and prints one line of JSON for each: its operations, or why it cannot be loaded."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from ov_gather.extension import checked_path
from ov_gather.extension.users import ExtensionError, add, new_core
from ov_gather.system import platforms


def main() -> None:
    """Load the extensions that the arguments name, in order."""
    platforms.leave_no_core_dump()  # a crash is expected here
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    for name in sys.argv[1:]:
        os.write(answers, (json.dumps(_answer(name)) + "\n").encode())
    os._exit(0)  # what a library does at the end of the process is not judged


def _answer(name: str) -> dict[str, Any]:
    try:
        found = add(new_core(), name)
        if found is None:
            return {"file": name, "operations": _operations(name)}
        file = import_module(name.partition(":")[0]).__file__ or ""
        if not isinstance(found, type):  # a conversion of operators
            return {"file": file, "operations": []}
        kind: Any = found().get_type_info()
    except ExtensionError as error:
        return {"error": str(error)}
    except Exception as error:  # a class of a user raises anything
        return {"error": f"{name} cannot be created without arguments, as OpenVINO does: {type(error).__name__}: {error}"}
    return {"file": file, "operations": [f"{kind.name} {kind.version_id or ''}"]}


def _operations(library: str) -> list[str]:
    """Return the operations of a library; none if our extension, which lists them, cannot be had."""
    with suppress(ImportError, OSError):
        names = ctypes.CDLL(checked_path()).ov_gather_operations_of
        names.restype, names.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
        create = ctypes.cast(ctypes.CDLL(library).create_extensions, ctypes.c_void_p)
        return str(names(create).decode()).splitlines()
    return []

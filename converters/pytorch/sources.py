"""Loading of PyTorch's exported programs."""

from __future__ import annotations

import logging
import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from ov_gather.system.imports import require

from ..errors import ConversionError

if TYPE_CHECKING:
    import torch

SUFFIX = ".pt2"
UNTRUSTED = "to load a .pt2 executes code that the file holds: give --trust, or trust=True, if you know who wrote it"
Program: TypeAlias = "str | os.PathLike[str] | torch.export.ExportedProgram"


def is_program(source: Any) -> TypeGuard[Program]:
    """Return True if a source is an exported program, or the path of one; PyTorch is not imported."""
    if isinstance(source, str | os.PathLike):
        return Path(source).suffix == SUFFIX
    return type(source).__name__ == "ExportedProgram" and type(source).__module__.startswith("torch.")


def load_program(source: Program, trust: bool) -> torch.export.ExportedProgram:
    """Load an exported program, unless it is one already. PyTorch executes code in the file (pickles).

    Raises ConversionError if the file is not trusted, or holds no program; OSError; ImportError without PyTorch.
    """
    if not isinstance(source, str | os.PathLike):
        return source
    if not Path(source).is_file():
        raise FileNotFoundError(f"{os.fspath(source)}: no such file")
    if not trust:
        raise ConversionError(f"{os.fspath(source)}: {UNTRUSTED}")
    require("torch")
    import torch

    if not zipfile.is_zipfile(source):
        raise ConversionError(f"{os.fspath(source)}: not an exported program: torch.export.save writes a zip file")
    try:
        with quiet():
            program: torch.export.ExportedProgram = torch.export.load(source)
            return program
    except Exception as error:  # PyTorch raises errors without a common base
        raise ConversionError(f"{os.fspath(source)}: not an exported program: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings of PyTorch and the front end about their internals."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)

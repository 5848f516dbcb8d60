"""Reproducers: the smallest model that shows a fault, written to disk with its inputs and the command that executes it.

Sizes are halved while the fault survives.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.replay import Piece
from ov_gather.crosscheck.bisect.rounding import Rounding, difference
from ov_gather.crosscheck.bisect.sides import Replacement
from ov_gather.crosscheck.shrinking import cut, new_folder, shrunk
from ov_gather.runtimes.base import FAILURES
from ov_gather.runtimes.configured import Setting
from ov_gather.system.files import replacing

ATTEMPTS = 24
"""Maximum number of smaller models that are tried."""


IsShown = Callable[[Path, Path, Path | None], bool]
"""Executes a reference and a model from disk, with an inputs file unless the reference contains them; True if they differ."""


@dataclass(frozen=True)
class Written:
    """Folder of a reproducer and the command that executes it; both are "", with a `note`, if no command shows the fault."""

    folder: str = ""
    command: str = ""
    note: str = ""


def write_reproducer(piece: Piece, comparer: Comparer, setting: Setting, directory: Path, is_shown: IsShown) -> Written:
    """Write a piece to a new folder below `directory`, as small as possible while the command shows the fault.

    The folder is removed if the command does not show it. Raises OSError.
    """
    folder = new_folder(directory, comparer.model.graph.label(piece.value))
    for smaller in (_smaller(piece, comparer, setting), piece):
        written, is_right = _written(smaller, comparer, setting, folder, is_shown)
        if is_right:
            return written
    shutil.rmtree(folder)
    return Written()


def _written(piece: Piece, comparer: Comparer, setting: Setting, folder: Path, is_shown: IsShown) -> tuple[Written, bool]:
    """Write a piece, and execute the written models."""
    model = piece.part.write(folder, "model")
    given, inputs = {name: _storable(array) for name, array in piece.inputs.items()}, None
    if piece.other is not None:
        reference = piece.other.write(folder, "reference")
        inputs = folder / "inputs.npz"
        _save(inputs, given | {name: _storable(array) for name, array in piece.other.rest.items()})
        command = ["ov-gather", "bisect", str(reference), str(model), "--input", str(inputs)]
    else:
        name = comparer.reference.graph.label(comparer.pairs.reference[piece.value])
        reference = folder / "expected.npz"
        _save(reference, {**given, name: _storable(piece.expected)})
        command = ["ov-gather", "bisect", str(reference), str(model)]
    usual = Setting()
    for option in ("runtime", "device", "precision"):
        if (value := getattr(setting, option)) != getattr(usual, option):
            command += [f"--{option}", value]
    return Written(str(folder), shlex.join(command)), is_shown(reference, model, inputs)


def _smaller(piece: Piece, comparer: Comparer, setting: Setting) -> Piece:
    """Halve sizes, each in all inputs at once, while both sides execute the piece and it shows the fault."""
    if piece.other is None:
        return piece
    return shrunk(
        piece, lambda one: (_cut(one, arrays, comparer, setting) for arrays in _halved(list(one.inputs.values()))), ATTEMPTS
    )


def _halved(arrays: Sequence[NDArray[Any]]) -> Iterator[list[NDArray[Any]]]:
    for size in sorted({size for array in arrays for size in array.shape if size > 1}, reverse=True):
        yield [cut(array, size, slice(0, size // 2)) for array in arrays]


def _cut(piece: Piece, arrays: Sequence[NDArray[Any]], comparer: Comparer, setting: Setting) -> Piece | None:
    """Return the piece for smaller inputs; None if a side refuses them, or the fault does not show."""
    given = {value: Replacement(name, array) for value, name, array in zip(piece.sources, piece.inputs, arrays, strict=True)}
    pairs, value = comparer.pairs.reference, piece.value
    name = comparer.reference.graph.label(pairs[value])
    part = comparer.model.part(given, {value: name})
    other = comparer.reference.part({pairs[source]: each for source, each in given.items()}, {pairs[value]: name})
    if part is None or other is None:
        return None
    try:
        (expected,), (output,) = other.run(arrays), part.run(arrays)
    except FAILURES:
        return None
    different = difference(expected, output, Rounding(setting.precision).share_of_outputs(len(piece.nodes)))
    if not different or isinstance(different, str) != isinstance(piece.difference, str):
        return None
    inputs = dict(zip(piece.inputs, arrays, strict=True))
    return replace(piece, part=part, other=other, inputs=inputs, expected=expected, difference=different)


def _save(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    with replacing(path) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an array to a type that .npz stores without pickling."""
    if array.dtype.hasobject:
        return array.astype(str)
    return array.astype(np.float32) if array.dtype.kind == "V" else array

"""The guilty nodes alone, executed on values of the reference to show their fault, and written to disk as a reproducer.

A reproducer is the smallest model that shows the fault, with its inputs and the command that executes it; sizes are halved
while the fault survives.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.rounding import Rounding, difference
from ov_gather.crosscheck.bisect.search import Search, SearchResult
from ov_gather.crosscheck.bisect.sides import Part, Replacement
from ov_gather.crosscheck.reduce import cut, new_folder, shrunk
from ov_gather.crosscheck.results import Difference
from ov_gather.graph.protocol import Key, Node
from ov_gather.runtimes.base import FAILURES
from ov_gather.runtimes.configured import Setting
from ov_gather.system.files import replacing

ATTEMPTS = 24
"""Maximum number of smaller models that are tried."""
LEVELS = 4
"""How often the producers of a piece's inputs are added until the piece shows the fault."""


IsShown = Callable[[Path, Path, Path | None], bool]
"""Executes a reference and a model from disk, with an inputs file unless the reference contains them; True if they differ."""


@dataclass(frozen=True)
class Piece:
    """A part of the model with inputs from the reference, and its result.

    Attributes:
        nodes: its nodes.
        part, other: the part, and the same part of the reference; `other` is None if the reference has no such part.
        inputs: the inputs, by name.
        expected: the reference's value.
        difference: the difference of the result; "" if there is none.
        is_refused_by_reference: whether the reference refuses the part, and the model executes it.
    """

    nodes: Sequence[Node]
    value: Key
    sources: Sequence[Key]
    part: Part
    other: Part | None
    inputs: dict[str, NDArray[Any]]
    expected: NDArray[Any]
    difference: Difference | str
    is_refused_by_reference: bool = False


class Replay:
    """Execution of pieces of a model in isolation."""

    def __init__(self, comparer: Comparer, search: Search) -> None:
        self._comparer, self._search = comparer, search
        self._graph = comparer.model.graph

    def piece_alone(self, found: SearchResult) -> Piece | None:
        """Return the guilty nodes, with constant subgraphs if necessary, as a piece; None if it does not show the fault."""
        return self._first_shown(found, [list(found.sources), self._without_constants(found.sources)])

    def piece_grown(self, found: SearchResult) -> Piece | None:
        """Return the smallest tried piece that shows the fault together with preceding nodes; None if there is none."""
        sources = self._without_constants(found.sources)
        grown = []
        for _ in range(LEVELS):
            sources = self._expanded(sources)
            grown.append(sources)
        return self._first_shown(found, grown)

    def refused(self, value: Key, sources: Sequence[Key]) -> Piece | None:
        """Return the nodes that compute a value as a piece, if exactly one side refuses it."""
        pairs = self._comparer.pairs.reference
        arrays = self._comparer.reference.prefix([pairs[source] for source in sources])
        given = {source: Replacement(self._comparer.name(source), arrays[pairs[source]]) for source in sources}
        part, other = _parts(self._comparer, value, given)
        inputs = [each.array for each in given.values()]
        refused = [_refuses(part, inputs), _refuses(other, inputs)]
        if part is None or other is None or bool(refused[0]) == bool(refused[1]):
            return None
        named = {each.name: each.array for each in given.values()}
        nodes, nothing = self._graph.in_order(self._graph.between(sources, value)), np.empty(0)
        return Piece(nodes, value, sources, part, other, named, nothing, refused[0] or refused[1], bool(refused[1]))

    def _first_shown(self, found: SearchResult, choices: Sequence[Sequence[Key]]) -> Piece | None:
        for sources in {frozenset(sources): sources for sources in choices}.values():
            piece = self.piece(found.value, sources)
            if piece is not None and piece.difference:
                return piece
        return None

    def piece(self, value: Key, sources: Sequence[Key]) -> Piece | None:
        """Execute the nodes between `sources` and `value`; None if they cannot be extracted, or are refused."""
        arrays = self._comparer.values_of_reference([*sources, value])
        given = {source: Replacement(self._comparer.name(source), arrays[source]) for source in sources}
        part, other = _parts(self._comparer, value, given)
        if part is None:
            return None
        nodes = self._graph.in_order(self._graph.between(sources, value))
        try:
            (output,) = part.run([each.array for each in given.values()])
        except FAILURES:
            return None
        different = difference(arrays[value], output, self._comparer.rounding.share(len(nodes)))
        inputs = {each.name: each.array for each in given.values()}
        return Piece(nodes, value, sources, part, other, inputs, arrays[value], different)

    def _without_constants(self, sources: Sequence[Key]) -> list[Key]:
        """Return the sources that depend on an input of the model."""
        return [value for value in dict.fromkeys(sources) if value in self._graph.computed]

    def _expanded(self, sources: Sequence[Key]) -> list[Key]:
        region, producers = self._search.region, self._graph.producers
        return self._without_constants([one for key in sources for one in (region(key).sources if key in producers else [key])])


def _parts(comparer: Comparer, value: Key, given: Mapping[Key, Replacement]) -> tuple[Part | None, Part | None]:
    """Extract the nodes that compute a value from the model and from the reference."""
    pairs, name = comparer.pairs.reference, comparer.name(value)
    theirs = {pairs[source]: each for source, each in given.items()}
    return comparer.model.part(given, {value: name}), comparer.reference.part(theirs, {pairs[value]: name})


def _refuses(part: Part | None, inputs: Sequence[NDArray[Any]]) -> str:
    """Return the error of a part; "" if it executes."""
    try:
        if part is not None:
            part.run(inputs)
    except FAILURES as error:
        return str(error)
    return ""


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
        if (written := _written(smaller, comparer, setting, folder, is_shown)).command:
            return written
    shutil.rmtree(folder)
    return Written()


def _written(piece: Piece, comparer: Comparer, setting: Setting, folder: Path, is_shown: IsShown) -> Written:
    """Write a piece, and execute the written models; without a command if they do not show the fault."""
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
    for extension in setting.extensions:
        command += ["--extension", extension.name]
    if tolerance := comparer.rounding.tolerance:
        command += ["--atol", repr(tolerance.atol), "--rtol", repr(tolerance.rtol)]
    return Written(str(folder), shlex.join(command)) if is_shown(reference, model, inputs) else Written()


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
    part, other = _parts(comparer, piece.value, given)
    if part is None or other is None:
        return None
    try:
        (expected,), (output,) = other.run(arrays), part.run(arrays)
    except FAILURES:
        return None
    rounding = Rounding(setting.precision, tolerance=comparer.rounding.tolerance)
    different = difference(expected, output, rounding.share_of_outputs(len(piece.nodes)))
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

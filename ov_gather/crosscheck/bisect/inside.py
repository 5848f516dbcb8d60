"""The bodies of two sub-graphs that correspond become the two sides of a bisection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import ITERATION
from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.correspondence import pair_outputs
from ov_gather.crosscheck.bisect.graphs import Value
from ov_gather.crosscheck.bisect.inputs import Sides
from ov_gather.crosscheck.bisect.ir_side import IRSide
from ov_gather.runtimes.base import CrashedError, RefusedError

SUBGRAPHS = ("If '", "Loop '", "TensorIterator '", "Scan '")
"""How the names of nodes begin that have bodies."""


@dataclass(frozen=True)
class Inside:
    """An Inside is the two bodies as sides, and which of their outputs correspond."""

    sides: Sides
    outputs: dict[Value, Value]


def inside(sides: Sides, comparer: Comparer, value: Value) -> Inside | None:
    """Make sides of the bodies that compute a value; None where that cannot be done. Both get values of the reference."""
    pairs = comparer.pairs.reference

    def array(outside: Value) -> NDArray[Any] | None:
        """Give the array that a value of the reference has."""
        constant = sides.reference.constant(outside)
        return sides.reference.prefix([outside])[outside] if constant is None else constant

    def array_of_model(outside: Value) -> NDArray[Any] | None:
        constant = sides.model.constant(outside)
        return constant if constant is not None else array(pairs[outside]) if outside in pairs else None

    try:
        ours, theirs = sides.model.body(value, array_of_model), sides.reference.body(pairs[value], array)
    except (RefusedError, CrashedError, IndexError, KeyError):
        return None
    if ours is None or theirs is None or not isinstance(ours[0], IRSide):
        return None
    origins: Mapping[Value, str] = {origin: name for name, origin in theirs[1].sources.items()}
    names = {}
    for name, origin in ours[1].sources.items():
        other = origins.get(origin if origin == ITERATION else pairs.get(origin, ""))
        if other is not None:
            names[name] = other
    try:
        outputs = pair_outputs(theirs[0].graph, ours[0].graph, only_named=False)
    except ValueError:
        return None
    return Inside(Sides(theirs[0], ours[0], names, theirs[1].inputs), outputs)

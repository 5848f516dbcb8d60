"""Faults of libraries: what a call or an inference was expected to give, and what it gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.references import compute
from ov_gather.crosscheck.verdict import difference_of
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.layer_view import LayerView
from ov_gather.runtimes.base import Evaluation
from ov_gather.system.worker import CrashedError, HungError

Arrays = Sequence[NDArray[Any]]
READ, TYPE, SHAPE, OPEN_SHAPE = "is read", "element type", "shape", "open shape"
CALL, BOUNDS, INPUTS = "call", "writes within its outputs", "leaves its inputs"
RETURNED, VALUES = "returned shape", "values"
DEFAULTS, ATTRIBUTES = "defaults of attributes", "values of attributes"
STATE, THREADS, MEMORY = "keeps no state", "is safe in threads", "leaks no memory"
PROBES = (
    *(READ, TYPE, SHAPE, OPEN_SHAPE, CALL, BOUNDS, INPUTS, RETURNED, VALUES, DEFAULTS, ATTRIBUTES, STATE, THREADS, MEMORY),
)
"""The probes, in order."""


@dataclass(frozen=True, slots=True)
class LibraryFault:
    """Something that a library does wrong.

    Attributes:
        probe: the probe that found it.
        name: what is wrong, such as "writes past its output".
        detail: where, what was expected, and what came instead.
    """

    probe: str
    name: str
    detail: str
    hangs: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}" if self.detail else self.name


def expected_outputs(view: LayerView, inputs: Arrays) -> Arrays | None:
    """Return the outputs of the reference; None if an index is out of bounds."""
    try:
        return compute(view, inputs)
    except IndexError:
        return None


def fault_of_call(view: LayerView, right: Arrays, found: Evaluation | Exception, where: str) -> LibraryFault | None:
    """Return what is wrong with a call, compared with the right outputs; None if nothing is."""
    if isinstance(found, CrashedError):
        return fault_of_crash(CALL, found, where)
    if isinstance(found, Exception):
        return LibraryFault(CALL, "throws", f"{where}valid inputs, expected a result: {found}")
    for name, (before, behind), array in zip(view.operation.outputs, found.overrun, right, strict=True):
        if before or behind:
            place = "before" if before else "past the end of"
            detail = f"{where}{before or behind} bytes {place} {name} of {array.nbytes} bytes were changed, expected none"
            return LibraryFault(BOUNDS, "writes past its output", detail)
    if found.written:
        name = view.operation.inputs[found.written[0]].name
        detail = f"{where}{name} has other bytes after the call, expected the same: other layers may read it, too"
        return LibraryFault(INPUTS, "writes into its inputs", detail)
    for name, shape, array in zip(view.operation.outputs, found.shapes, right, strict=True):
        if shape != array.shape:
            detail = f"{where}{name} has shape {list(shape)} after the call, expected {list(array.shape)}"
            return LibraryFault(RETURNED, "returns another shape than it inferred", detail)
    difference = difference_between(view, right, found.outputs)
    return LibraryFault(VALUES, "computes wrong values", f"{where}{difference}") if difference else None


def difference_between(view: LayerView, right: Arrays, found: Arrays) -> str:
    """Return the first difference that the operation does not permit; "" if there is none."""
    differences = (str(difference_of(view.operation, one, other)) for one, other in zip(right, found, strict=True))
    return next(filter(None, differences), "")


def fault_of_crash(probe: str, error: CrashedError, where: str) -> LibraryFault:
    """Return the fault of a library whose process died, or did not answer in time."""
    hangs = isinstance(error, HungError)
    return LibraryFault(
        probe, "hangs" if hangs else "crashes", f"{where.rstrip(', ')}, expected a result: it {error}", hangs=hangs
    )


def agree(expected: PartialShape, found: PartialShape) -> bool:
    """Return True if the same dimensions are open in both shapes, which may bound them differently, and others are equal."""
    if expected.dims is None or found.dims is None or len(expected.dims) != len(found.dims):
        return expected.dims is None and found.dims is None
    pairs = zip(expected.dims, found.dims, strict=True)
    return all(one == other or not (one.is_static or other.is_static or one.intersect(other) is None) for one, other in pairs)


def output_types(view: LayerView) -> list[Any]:
    """Return the element type of each output."""
    return list(view.operation.infer_types(view.input_types))


def expected_types(view: LayerView, right: Arrays) -> list[tuple[Any, tuple[int, ...]]]:
    """Return the element type and shape of each output."""
    return [(kind, array.shape) for kind, array in zip(output_types(view), right, strict=True)]

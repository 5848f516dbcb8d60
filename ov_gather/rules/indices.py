"""6xx: index values that the document holds as constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ov_gather.ir.errors import IRError
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.base import Violation, layer_rule
from ov_gather.rules.findings import Severity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    IsWrong = Callable[[NDArray[Any], Any], NDArray[Any]]


def first_constant_index(view: LayerView, is_wrong: IsWrong) -> tuple[str, int, int, int] | None:
    """The first wrong constant index: its place, e.g. "indices[3, 17]", its value, how many are wrong, and the axis size."""
    port, sizes = view.operation.index_rule.port, view.index_sizes
    if view.input_types[port] not in (view.operation.inputs[port].element_types or ()):
        return None
    try:
        indices = view.constant(port)
    except IRError:  # 5xx reports it
        return None
    if indices is None or sizes is None:
        return None
    import numpy as np  # only here: an IR without constant indices is validated without NumPy

    wrong = is_wrong(indices, np.array(sizes) if len(sizes) > 1 else sizes[0])
    if not wrong.any():
        return None
    position = np.unravel_index(int(np.argmax(wrong)), indices.shape)
    name = view.operation.inputs[port].name
    place = f"{name}[{', '.join(map(str, position))}]" if position else name
    size = sizes[position[-1]] if len(sizes) > 1 else sizes[0]
    return place, int(indices[position]), int(wrong.sum()), size


@layer_rule("OVG601")
def constant_index_out_of_bounds(view: LayerView) -> Iterator[Violation]:
    """A constant index is out of bounds: no runtime can execute the layer rightly; some read foreign memory or write zeros."""
    if not _fills_zeros(view):
        yield from _out_of_bounds(view, "")


@layer_rule("OVG602", Severity.WARNING)
def zeros_out_of_bounds(view: LayerView) -> Iterator[Violation]:
    """A constant index is out of bounds, which yields zeros: so says the page of Gather-8, where ONNX has an error."""
    if _fills_zeros(view):
        yield from _out_of_bounds(view, "; it yields zeros")


def _fills_zeros(view: LayerView) -> bool:
    return view.attributes is not None and view.operation.index_rule.zero_fill(view.attributes)


def _out_of_bounds(view: LayerView, consequence: str) -> Iterator[Violation]:
    found = first_constant_index(view, lambda indices, size: (indices < -size) | (indices >= size))
    if found:
        place, value, count, size = found
        port = view.layer.inputs[view.operation.index_rule.port]
        yield Violation(
            f"{place} = {value} is out of bounds for an axis of size {size} ({count} such in all){consequence}",
            f"{view.operation.name} allows {view.operation.index_rule.specified}, here 0 to {size - 1}"
            if size
            else "no index is valid along an axis of size 0",
            port.line,
            view.layer,
            port.id,
        )

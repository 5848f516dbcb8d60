"""Several sites may take the same indices in other shapes: one guard where these come from serves them all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from openvino import Input, Node, Output

from ov_gather.acceleration.graph import constant, dims, identity

_MOVES = ("Broadcast", "Convert", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_SPLITS = ("Split", "VariadicSplit")
INDICES = 1
"""The input of every gather and scatter that takes indices."""


@dataclass(frozen=True, eq=False)
class Unproved:
    """An Unproved is a gather or scatter whose indices are not known to be in bounds.

    Attributes:
        limit: what its indices are in bounds of; sites of the same limit may share a guard. None: it shares none.
        size_of: the input of the model, and its axis, whose size the axis of data has; None where that is not known.
        has_computed_size: whether the size of the axis is that of data when the model runs, and of nothing else that is known.
        may_be_empty: whether the axis of its indices, or one of the axes, may be empty.
    """

    node: Node
    counts_from_end: bool
    limit: Hashable = None
    size_of: tuple[Node, int] | None = None
    has_computed_size: bool = True
    may_be_empty: bool = True


@dataclass(frozen=True, eq=False)
class Root:
    """A Root is a tensor whose elements are the indices of some sites, all of them.

    Attributes:
        readers: the inputs that take it on its way to the sites, and to nothing else.
    """

    indices: Output
    readers: tuple[Input, ...]
    sites: tuple[Unproved, ...]

    @property
    def is_input(self) -> bool:
        """Whether the indices come from an input as it is, of the model or of a body."""
        return bool(self.indices.get_node().get_type_name() == "Parameter")


def roots(sites: Sequence[Unproved]) -> list[Root]:
    """Find where the indices of some sites come from.

    A root lies above operations that only move elements, or divide them among each other, as far up as these operations feed
    sites of the same limit alone. So another tensor in the place of the root changes nothing but these indices.
    """
    search = _Search(sites)
    while search.climb():
        pass
    return search.found()


class _Search:
    def __init__(self, sites: Sequence[Unproved]) -> None:
        self._sites = sites
        self._claims = {_reader(site.node.input(INDICES)): _claim(site) for site in sites}
        self._places = [site.node.input_value(INDICES) for site in sites]

    def climb(self) -> bool:
        """Go up by one operation wherever that is possible, and tell whether it was."""
        is_higher = False
        for number, site in enumerate(self._sites):
            mover = self._places[number].get_node()
            if site.limit is None or not self._feeds_only(mover, site.limit):
                continue
            if site.has_computed_size and _has_shape_read(mover):
                continue  # the size may depend on that shape, and then the guard would on itself
            if _only_moves(mover) or mover.get_type_name() in _SPLITS or self._divides(mover, site.limit):
                self._claims[_reader(mover.input(0))] = site.limit
                self._places[number] = mover.input_value(0)
                is_higher = True
        return is_higher

    def _feeds_only(self, node: Node, limit: Hashable) -> bool:
        """Tell whether the elements of all outputs of a node get to sites of a limit, and nowhere else."""
        readers = [[reader for reader in output.get_target_inputs() if not _is_shape_of(reader)] for output in node.outputs()]
        return all(some and all(self._claims.get(_reader(one)) == limit for one in some) for some in readers)

    def _divides(self, node: Node, limit: Hashable) -> bool:
        """Tell whether a Gather by constants takes, with others that feed the same sites, every element of its data."""
        first = _pick(node)
        if first is None:
            return False
        axis, taken, size = first
        for reader in node.input_value(0).get_target_inputs():
            other = reader.get_node()
            pick = _pick(other) if reader.get_index() == 0 else None
            if pick is not None and pick[0] == axis and self._feeds_only(other, limit):
                taken |= pick[1]
        return len(taken) == size

    def found(self) -> list[Root]:
        """List the roots, in the order of their first sites."""
        groups: dict[Hashable, list[int]] = {}
        for number, site in enumerate(self._sites):
            groups.setdefault((identity(self._places[number]), _claim(site)), []).append(number)
        return [self._root(numbers) for numbers in groups.values()]

    def _root(self, numbers: Sequence[int]) -> Root:
        place, claim = self._places[numbers[0]], _claim(self._sites[numbers[0]])
        readers = [reader for reader in place.get_target_inputs() if self._claims.get(_reader(reader)) == claim]
        return Root(place, tuple(readers), tuple(self._sites[number] for number in numbers))


def _claim(site: Unproved) -> Hashable:
    return site.node.get_instance_id() if site.limit is None else site.limit


def _reader(reader: Input) -> tuple[int, int]:
    return reader.get_node().get_instance_id(), reader.get_index()


def _is_shape_of(reader: Input) -> bool:
    return bool(reader.get_node().get_type_name() == "ShapeOf")


def _has_shape_read(node: Node) -> bool:
    return any(_is_shape_of(reader) for output in node.outputs() for reader in output.get_target_inputs())


def _pick(node: Node) -> tuple[int, set[int], int] | None:
    """Tell along which axis a Gather takes which of how many positions, where constants say so."""
    if node.get_type_name() != "Gather" or node.get_attributes().get("batch_dims"):
        return None
    shape, positions, axis = dims(node.input_value(0)), constant(node.input_value(1)), constant(node.input_value(2))
    if shape is None or positions is None or axis is None or shape[int(axis.item())].is_dynamic:
        return None
    size = shape[int(axis.item())].get_length()
    return int(axis.item()) % len(shape), {int(one) % size for one in positions.ravel() if -size <= one < size}, size


def _only_moves(node: Node) -> bool:
    """Tell whether every element of the first input, and nothing else, is in the output."""
    kind = node.get_type_name()
    if kind not in _MOVES:
        return False
    if kind == "Convert":
        return all(
            value.get_element_type().get_type_name() in ("i32", "i64") for value in (node.input_value(0), node.output(0))
        )
    return kind != "Broadcast" or _repeats_at_least_once(node)


def _repeats_at_least_once(broadcast: Node) -> bool:
    before, after = dims(broadcast.input_value(0)), dims(broadcast.output(0))
    if before is None or after is None or len(before) > len(after):
        return False
    added = len(after) - len(before)
    kept = [False] * added + [dim.get_min_length() == 0 for dim in before]
    return all(may_be_empty or dim.get_min_length() > 0 for may_be_empty, dim in zip(kept, after, strict=True))

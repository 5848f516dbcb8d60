"""One guard for several sites.

1. Their indices are moved, reshaped or split from the same tensor (`roots`):
   before: Gather(a, Reshape(i)); Gather(b, Transpose(i))
   after:  g = guard(i); Gather(a, Reshape(g)); Gather(b, Transpose(g))
2. Their indices are constant (`sharing_constants`):
   before: Gather(a [n], [0, 5]); Gather(b [n], [3]); Gather(c [n], 3)
   after:  VariadicSplit(guard([0, 5, 3])) feeds them
3. They are columns of the same tensor, for axes of different sizes (`Root.columns`):
   before: Gather(a [9], ids[:, 0]); Gather(b [5], ids[:, 1])
   after:  g = guard(ids), with bounds for each column; Gather(a, g[:, 0]); Gather(b, g[:, 1])
4. What moves the indices is only computed once (`share_shapes`):
   before: g = guard(i); Scatter(a, Broadcast(g)); ShapeOf(Broadcast(i))
   after:  g = guard(i); b = Broadcast(g); Scatter(a, b); ShapeOf(b)
5. One writes to what another wrote, and the axes only have to be long enough (`add_zero`):
   before: Scatter(Scatter(a, i), j)
   after:  Scatter(Scatter(a, guard(i)), j)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.acceleration.axis_sizes import Columns, constant_size, takes_tuples
from ov_gather.acceleration.graph import INDICES, ancestors, constant, copied, dims, identity, is_scatter, wide
from ov_gather.acceleration.operators import is_broadcast, op_of
from ov_gather.acceleration.parts import SPLITS, Taken, picked, taken
from ov_gather.acceleration.unproved import Unproved
from ov_gather.extension.python_api import Node, Output, Type
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import OpKind, Trait


@dataclass(frozen=True, eq=False)
class _Path:
    """The tensors from the indices of a site up to their source, through operations that only move elements."""

    site: Unproved
    tensors: list[Output]

    @property
    def top(self) -> Output:
        return self.tensors[-1]

    def climb(self, *, by_part: bool = False) -> None:
        """Extend the path through operations that keep all elements; with `by_part`, first through one that selects some."""
        while by_part or _only_moves(self.top.get_node()):
            self.tensors.append(self.top.get_node().input_value(0))
            by_part = False


Copies = Sequence[tuple[Output, Output]]


@dataclass(frozen=True, eq=False)
class Root:
    """A tensor whose elements are the indices of some sites, which are in topological order.

    Attributes:
        columns: None if all elements have the same bounds; else the columns along one axis, some of which hold indices.
    """

    paths: Sequence[_Path]
    columns: Columns | None = None

    @property
    def indices(self) -> Output:
        """The tensor to guard."""
        return self.paths[0].top

    @property
    def sites(self) -> list[Unproved]:
        """The sites that use it."""
        return [path.site for path in self.paths]

    @property
    def is_input(self) -> bool:
        """True if the indices are a Parameter of the model or of a body."""
        return bool(self.indices.get_node().get_type_name() == "Parameter")

    def feed(self, other: Output) -> Copies:
        """Replace the tensor by `other` for the sites, copying the operations between. Other readers keep the original.

        Returns:
            The outputs of these operations, each with that of its copy.
        """
        known = {identity(self.indices): other}
        copies: list[tuple[Output, Output]] = []
        for path in self.paths:
            for tensor in reversed(path.tensors[:-1]):
                if identity(tensor) not in known:
                    node = tensor.get_node()
                    inputs = [known[identity(node.input_value(0))], *node.input_values()[1:]]
                    outputs = copied(node, inputs).outputs()
                    known |= {identity(old): new for old, new in zip(node.outputs(), outputs, strict=True)}
                    copies += zip(node.outputs(), outputs, strict=True)
            path.site.node.input(INDICES).replace_source_output(known[identity(path.tensors[0])])
        return copies


def share_shapes(copies: Copies) -> None:
    """Let each ShapeOf of an original read its copy, unless the guard before the copy needs that shape.

    Otherwise the original, often a Broadcast to the shape of data, would be computed for its shape alone.
    """
    for old, new in copies:
        ports = [port for port in old.get_target_inputs() if op_of(port.get_node()).kind is OpKind.SHAPE]
        needed = {node.get_instance_id() for node in ancestors([new])} if ports else set()
        for port in ports:
            if port.get_node().get_instance_id() not in needed:
                port.replace_source_output(new)


def roots(sites: Sequence[Unproved], *, is_exact: bool, by_columns: bool) -> list[Root]:
    """Return the common sources of the indices of some sites, in the order of their first sites.

    Operations between a root and its sites only move elements, or split them.

    Args:
        sites: in topological order.
        is_exact: require that every element of a root is an index of a site, since others may have any value. Otherwise a
            root that several sites share may hold more elements.
        by_columns: let sites along axes of different sizes share a root.
    """
    paths = [_Path(site, [site.indices]) for site in sites]
    movable = [path for path in paths if path.site.sizes and not takes_tuples(path.site.node)]
    for path in movable:
        path.climb()
    found = _of_columns(movable) if by_columns else []
    served = {id(path) for root in found for path in root.paths}
    movable = [path for path in movable if id(path) not in served]
    while parted := _parted(movable, is_exact):
        for path in parted:
            path.climb(by_part=True)
    return found + [Root(group) for group in _grouped((one for one in paths if id(one) not in served), lambda path: path.top)]


def _of_columns(paths: Sequence[_Path]) -> list[Root]:
    """Return roots whose columns are indices along axes of different static sizes, and extend their paths to them."""
    groups: dict[Hashable, list[tuple[_Path, Taken]]] = {}
    for path in paths:
        part = taken(path.top)
        if part is not None and (constant_size(path.site.node) or 0) > 0:
            key = (identity(path.top.get_node().input_value(0)), part.axis, path.site.counts_from_end)
            groups.setdefault(key, []).append((path, part))
    found = []
    for group in groups.values():
        sites: dict[int, Unproved] = {}
        served = []
        for path, part in group:
            if all(_limit(sites.get(position, path.site)) == _limit(path.site) for position in part.positions):
                sites |= dict.fromkeys(part.positions, path.site)
                served.append(path)
        if len(set(map(_limit, sites.values()))) > 1:
            for path in served:
                path.tensors.append(path.top.get_node().input_value(0))
            found.append(Root(served, Columns(group[0][1].axis, [sites.get(i) for i in range(group[0][1].size)])))
    return found


def _parted(paths: Sequence[_Path], is_exact: bool) -> list[_Path]:
    """Return paths whose tops are parts of one tensor and may share a guard there; empty if there are none."""
    candidates = [path for path in paths if _is_part(path.top.get_node())]
    for group in _grouped(candidates, lambda path: path.top.get_node().input_value(0)):
        tops = {identity(path.top): path.top for path in group}
        may_be_any = len(tops) > 1 and not is_exact and not any(path.site.may_be_empty for path in group)
        if may_be_any or _is_all(tops.values()):
            return group
    return []


def _grouped(paths: Iterable[_Path], tensor_of: Callable[[_Path], Output]) -> list[list[_Path]]:
    """Group paths by a tensor and by the bounds of their indices: sites share a guard only if both are the same."""
    groups: dict[Hashable, list[_Path]] = {}
    for path in paths:
        groups.setdefault((identity(tensor_of(path)), _limit(path.site)), []).append(path)
    return list(groups.values())


def _limit(site: Unproved) -> Hashable:
    alone: Hashable = site.node.get_instance_id()
    return (site.sizes, site.counts_from_end, takes_tuples(site.node)) if site.sizes else alone


def _is_part(node: Node) -> bool:
    """Return True if an operation outputs only elements of its first input, maybe not all."""
    return op_of(node).takes_part or picked(node) is not None


def _is_all(parts: Iterable[Output]) -> bool:
    """Return True if the parts together contain every element of their tensor."""
    splits: dict[int, set[int]] = {}
    picks: dict[int, set[int]] = {}
    for part in parts:
        node = part.get_node()
        if node.get_type_name() in SPLITS:
            splits.setdefault(node.get_instance_id(), set()).add(part.get_index())
            if len(splits[node.get_instance_id()]) == len(node.outputs()):
                return True
        elif (pick := picked(node)) is not None:
            picks[pick.axis] = picks.get(pick.axis, set()) | set(pick.positions)
            if len(picks[pick.axis]) == pick.size:
                return True
    return False


def _only_moves(node: Node) -> bool:
    """Return True if the output contains every element of the first input and nothing else."""
    op = op_of(node)
    if op.kind is OpKind.CAST:
        return all(
            value.get_element_type().get_type_name() in ("i32", "i64") for value in (node.input_value(0), node.output(0))
        )
    if is_broadcast(node):
        return _repeats_at_least_once(node)
    return op.meaning.keeps_each and Trait.EXACT in op.traits


def _repeats_at_least_once(broadcast: Node) -> bool:
    before, after = dims(broadcast.input_value(0)), dims(broadcast.output(0))
    if before is None or after is None:
        return False
    kept = [False] * (len(after) - len(before)) + [dim.get_min_length() == 0 for dim in before]
    return all(may_be_empty or dim.get_min_length() > 0 for may_be_empty, dim in zip(kept, after, strict=True))


def add_zero(sites: Sequence[Unproved], zero: Output) -> None:
    """Let sites wait for one check, of the sizes of their axes: add its result, a scalar 0, to their indices.

    Constant indices share one addition, and so do sites with the same indices. A site whose data another of them scattered
    to needs none: OpenVINO may drop the indices of a gather that returns its data, but not those of a scatter.
    """
    scatters = {site.node.get_instance_id() for site in sites if is_scatter(site.node)}
    first = [site for site in sites if not _is_behind(site, scatters)]
    constants = sharing_constants(first)
    for group in constants:
        distribute(_sum(joined_indices(group), zero), group)
    is_served = {id(site) for group in constants for site in group}
    alike: dict[Hashable, list[Unproved]] = {}
    for site in first:
        if id(site) not in is_served:
            alike.setdefault(identity(site.indices), []).append(site)
    for group in alike.values():
        indices = _sum(wide(group[0].indices), zero)
        for site in group:
            site.node.input(INDICES).replace_source_output(indices)


def _is_behind(site: Unproved, scatters: Collection[int]) -> bool:
    """Return True if the data of a site is the result of one of `scatters`, which are instance ids, moved or not."""
    node = site.node.input_value(0).get_node()
    while node.get_instance_id() not in scatters and _only_moves(node):
        node = node.input_value(0).get_node()
    return node.get_instance_id() in scatters


def _sum(indices: Output, zero: Output) -> Output:
    kind = indices.get_element_type()
    same = zero if zero.get_element_type() == kind else ops.convert(zero, kind.get_type_name()).output(0)
    return ops.add(indices, same).output(0)


def sharing_constants(sites: Sequence[Unproved]) -> list[list[Unproved]]:
    """Group the sites outside of bodies whose constant indices can share a guard; return the groups of two or more."""
    groups: dict[Hashable, list[Unproved]] = {}
    for site in sites:
        if site.sizes and not site.is_in_body and constant(site.indices) is not None:
            key = (site.sizes, site.counts_from_end, site.count, takes_tuples(site.node), _kind(site))
            groups.setdefault(key, []).append(site)
    return [group for group in groups.values() if len(group) > 1]


def joined_indices(sites: Sequence[Unproved]) -> Output:
    """Concatenate the different constant indices of several sites: to a vector, or to rows of tuples."""
    return ops.constant(np.concatenate([*_different(sites).values()]), _kind(sites[0])).output(0)


def distribute(joined: Output, sites: Sequence[Unproved]) -> None:
    """Split `joined`, the guarded result of `joined_indices`, and feed each site its part."""
    different = _different(sites)
    lengths = [len(indices) for indices in different.values()]
    parts = [joined] if len(lengths) == 1 else ops.variadic_split(joined, ops.constant(0), ops.constant(lengths)).outputs()
    part_of, shaped = dict(zip(different, parts, strict=True)), {}
    for site in sites:
        key, shape = _key(_flat(site)), tuple(site.indices.get_shape())
        if (key, shape) not in shaped:
            shaped[key, shape] = ops.reshape(part_of[key], ops.constant(np.array(shape, np.int64)), False).output(0)
        site.node.input(INDICES).replace_source_output(shaped[key, shape])


def _different(sites: Sequence[Unproved]) -> dict[Hashable, NDArray[Any]]:
    """Return the different constant indices of sites."""
    return {_key(indices): indices for indices in map(_flat, sites)}


def _key(indices: NDArray[Any]) -> Hashable:
    return indices.dtype.str, indices.tobytes()


def _flat(site: Unproved) -> NDArray[Any]:
    numbers = constant(site.indices)
    assert numbers is not None
    return numbers.reshape(-1, numbers.shape[-1]) if takes_tuples(site.node) else numbers.reshape(-1)


def _kind(site: Unproved) -> Type:
    return wide(site.indices).get_element_type()

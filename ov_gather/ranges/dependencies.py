"""The inputs of a model that may matter to a site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ov_gather.graph.protocol import Key, Node
from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.analysis import Analysis, has_open_axes
from ov_gather.ranges.cuts import parts_in
from ov_gather.ranges.graph import AnalysedGraph, operands
from ov_gather.ranges.sites import Site

T = TypeVar("T")


@dataclass(frozen=True)
class SitePart:
    """The inputs of a model that may matter to a site.

    Attributes:
        inputs: the elements that may matter.
        shaping: those whose shapes may matter.
        dims: the dynamic dimensions of inputs that may matter.
    """

    inputs: list[Elements]
    shaping: list[Key]
    dims: list[Symbol]


class InputDependencies:
    """The inputs that each tensor depends on. A set of inputs is an integer whose i-th bit stands for the i-th input.

    Args:
        graph: the graph, of which the parts are learned that its steps cut out of inputs.
        steps: its steps, in topological order.
    """

    def __init__(self, graph: AnalysedGraph, steps: Sequence[Node]) -> None:
        self._graph, self._steps = graph, steps
        self._bits = {key: 1 << place for place, key in enumerate(graph.inputs.values())}
        self._behind: dict[Key, int] = {}
        for step in steps:
            read = _union(self._bits, step.sources)
            self._behind.update(dict.fromkeys(step.outputs, read | _union(self._behind, operands(graph, step))))

    def part_of(self, site: Site, known: Analysis) -> SitePart:
        """Return the inputs that may matter to a site, with the dimensions by which an analysis of the model knows them."""
        inputs = _union(self._bits, [site.indices, *site.wanted])
        inputs |= _union(self._behind, [*site.wanted, *([site.data] if has_open_axes(self._graph, site) else [])])
        shaping = _chosen(list(self._graph.inputs.values()), inputs | self._bits.get(site.data, 0))
        shapes = [self._graph.declared(key).shape or () for key in shaping]
        shapes += [known.value(key).shape or () for key in (site.indices, site.data)]
        dims = dict.fromkeys(one for shape in shapes for dim in shape for one in sorted(dim.symbols) if one in known.others)
        return SitePart(_chosen([Elements(name) for name in self._graph.inputs], inputs), shaping, list(dims))

    def parts_of(self, site: Site, name: str) -> list[Elements]:
        """Return the parts of an input that the elements read by a site are computed from; none if it reads all of it."""
        elements, read = self._read
        keys = [site.indices, *site.wanted, *([site.data] if has_open_axes(self._graph, site) else [])]
        found = _chosen(elements, _union(read, keys))
        mine = [one for one in found if one.input == name]
        return mine if all(one.spans for one in mine) else []

    @cached_property
    def _read(self) -> tuple[list[Elements], dict[Key, int]]:
        """The inputs and parts of them, and for each tensor those whose elements it is computed from, as bits."""
        parts = parts_in(self._graph, self._steps)
        self._graph.parts.clear()
        for key, part in parts.items():
            self._graph.parts.setdefault(part, []).append(key)
        elements = [*map(Elements, self._graph.inputs), *self._graph.parts]
        places = {one: 1 << place for place, one in enumerate(elements)}
        read = {key: places[Elements(name)] for name, key in self._graph.inputs.items()}
        for step in self._steps:
            behind = 0 if step.reads_shapes_only else _union(read, step.sources)
            read.update((key, places[parts[key]] if key in parts else behind) for key in step.outputs)
        return elements, read


def _union(sets: Mapping[Key, int], keys: Iterable[Key]) -> int:
    found = 0
    for key in keys:
        found |= sets.get(key, 0)
    return found


def _chosen(items: Sequence[T], places: int) -> list[T]:
    """Return the items whose bits are set."""
    return [item for item, bit in zip(items, reversed(f"{places:b}"), strict=False) if bit == "1"]

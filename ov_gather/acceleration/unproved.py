"""Gathers and scatters whose indices may be out of bounds, with the properties that guards need."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from ov_gather.acceleration.graph import INDICES, identity
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.graph.symbols import Symbol
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.doubts import may_be_left
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.rules.call import CPU_PLUGIN
from ov_gather.ranges.runs import joined
from ov_gather.ranges.sites import BoundsCheck, Obstacle, Site


@dataclass(frozen=True, eq=False)
class Unproved:
    """A gather or scatter whose indices are not proved to be in bounds.

    Attributes:
        count: a key; sites with equal keys have indices in the same inferences. An empty tuple: always.
        sizes: the sizes of the indexed axes, as text; empty if unknown.
        size_of: a Parameter and its axis whose size equals that of the data axis; None if unknown.
        may_be_empty: whether an indexed axis may be empty although there are indices.
        needs: the least axis sizes for which every index is in bounds; None if no sizes guarantee that.
        has_constants: whether the bounds of the indices are attained, as those of a constant.
        is_in_body: whether the node is in the body of an operation.
    """

    node: Node
    counts_from_end: bool
    count: Hashable
    sizes: tuple[str, ...] = ()
    size_of: tuple[Node, int] | None = None
    may_be_empty: bool = True
    needs: tuple[int, ...] | None = None
    has_constants: bool = False
    is_in_body: bool = True

    @property
    def indices(self) -> Output:
        """The current indices of the node."""
        return self.node.input_value(INDICES)


@paused_collection()  # analyses have no cycles
def unproved_sites(
    graph: AnalysedGraph, model: Model, given: Assumption, is_open: Callable[[Node], bool], *, with_needs: bool
) -> tuple[list[Node], list[Unproved]]:
    """Analyse the sites whose node `is_open`, in topological order; return the nodes proved in bounds, and the other sites.

    `needs` of indices that are not constant are only found `with_needs`: this takes an analysis for each group of dimensions.
    """
    pairs = [(node.handle, site) for node, site in graph.nodes_with_sites if is_open(node.handle)]
    inputs = _sizes_of_inputs(graph, model)
    analysis = analyse(graph, steps_to(graph, [site for _, site in pairs]), CPU_PLUGIN, given)
    is_safe = [analysis.outcome(site) is Outcome.IN_BOUNDS for _, site in pairs]
    left = [pair for pair, safe in zip(pairs, is_safe, strict=True) if not safe]
    filled = _in_bounds_if_filled(analysis, given, [site for _, site in left]) if with_needs else set()
    found = [_unproved(analysis, node, site, inputs, site in filled) for node, site in left]
    return [node for (node, _), safe in zip(pairs, is_safe, strict=True) if safe], found


def _unproved(
    analysis: Analysis, node: Node, site: Site, inputs: Mapping[Symbol, tuple[Node, int]], is_filled: bool
) -> Unproved:
    wanted, indices = analysis.demands(site), identity(node.input_value(INDICES))
    if isinstance(wanted, Obstacle) or not wanted:
        return Unproved(node, site.counts_from_end, indices)
    sizes, is_in_body = [demand.size for demand in wanted], site.within is not None
    needs, size_of = None, None
    if not is_in_body:
        needs = _needs_of_constants(wanted) or ((1,) * len(sizes) if is_filled else None)
        if not site.has_coordinates:
            known = (inputs[one] for one in sizes[0].symbols if one in inputs and sizes[0] == Polynomial.symbol(one))
            size_of = next(known, None)
    symbols = _symbols_of_count(analysis, site)
    there = Sizes(ChainMap(_filled(analysis, symbols or frozenset()), analysis.algebra.sizes.bounds))
    return Unproved(
        node,
        site.counts_from_end,
        indices if symbols is None else tuple(sorted(symbols)),
        tuple(map(str, sizes)),
        size_of,
        any(there.least(size) < 1 for size in sizes),
        needs,
        all(demand.is_attained for demand in wanted),
        is_in_body,
    )


def _needs_of_constants(wanted: Sequence[BoundsCheck]) -> tuple[int, ...] | None:
    """Return the least axis sizes that put constant indices in bounds; None for other indices."""
    if not all(demand.is_attained and (demand.indices.low >= 0 or demand.counts_from_end) for demand in wanted):
        return None
    return tuple(int(max(demand.indices.high + 1, -demand.indices.low)) for demand in wanted)


def _in_bounds_if_filled(analysis: Analysis, given: Assumption, sites: Sequence[Site]) -> set[Site]:
    """Return the sites outside of bodies that are in bounds if no axis is empty whenever there are indices."""
    groups: dict[frozenset[Symbol], list[Site]] = {}
    for site in sites:
        wanted = analysis.demands(site)
        if site.within is None and not isinstance(wanted, Obstacle):
            filled = [_symbols_if_filled(analysis, demand.size) for demand in wanted]
            symbols = frozenset().union(*(some or () for some in (*filled, _symbols_of_count(analysis, site))))
            if symbols:
                groups.setdefault(symbols, []).append(site)
    found: set[Site] = set()
    for symbols, group in groups.items():
        assumed = joined(given, Assumption(dims=_filled(analysis, symbols)))
        under = analyse(analysis.graph, steps_to(analysis.graph, group), CPU_PLUGIN, assumed, analysis)
        found.update(site for site in group if under.outcome(site) is Outcome.IN_BOUNDS)
    return found


def _symbols_of_count(analysis: Analysis, site: Site) -> frozenset[Symbol] | None:
    """Return the dimensions that are all at least 1 if and only if there are indices; None if unknown.

    None have to be if OpenVINO may leave an index although one of them is 0.
    """
    if may_be_left(analysis.graph, site.indices):
        return frozenset()
    shape = analysis.value(site.indices).shape
    found = None if shape is None else [_symbols_if_filled(analysis, dim) for dim in shape]
    return None if found is None or None in found else frozenset().union(*(symbols or () for symbols in found))


def _symbols_if_filled(analysis: Analysis, size: Polynomial) -> frozenset[Symbol] | None:
    """Return the dimensions that are all at least 1 if and only if `size` is; None if unknown."""
    sizes = analysis.algebra.sizes
    if sizes.least(size) >= 1:
        return frozenset()
    is_product = len(size.terms) == 1 and size.terms[0][1] > 0 and all(sizes.of(one)[0] >= 0 for one in size.symbols)
    return frozenset(one for one in size.symbols if sizes.of(one)[0] < 1) if is_product else None


def _filled(analysis: Analysis, symbols: frozenset[Symbol]) -> dict[Symbol, tuple[int, Number]]:
    """Return the bounds of dimensions under the assumption that they are at least 1."""
    return {symbol: (1, max(1, analysis.algebra.sizes.of(symbol)[1])) for symbol in symbols}


def _sizes_of_inputs(graph: AnalysedGraph, model: Model) -> dict[Symbol, tuple[Node, int]]:
    """Map each symbolic dimension to the input axis that defines it."""
    nodes = {node.get_name(): node for node in model.get_parameters()}
    found = {}
    for key in graph.inputs.values():
        node = nodes[key[0]]  # type: ignore[index]
        for axis, dim in enumerate(graph.declared(key).shape or ()):
            found.update(dict.fromkeys(dim.symbols, (node, axis)))
    return found


def grouped_by_sizes(sites: Sequence[Unproved]) -> list[list[Unproved]]:
    """Group the sites outside of bodies by axis sizes and `count`."""
    groups: dict[Hashable, list[Unproved]] = {}
    for site in sites:
        if site.sizes and not site.is_in_body:
            groups.setdefault((site.sizes, site.count), []).append(site)
    return list(groups.values())

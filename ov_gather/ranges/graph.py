"""What a graph declares to the analysis: abstract values, transfer functions, and sites."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from ov_gather.graph.protocol import Body, Graph, Key, Node
from ov_gather.graph.symbols import Symbol
from ov_gather.ir.element_types import ElementType
from ov_gather.ir.model import LEAVES
from ov_gather.plugin.pattern_graph import PatternGraph
from ov_gather.ranges.algebra.constants import constant_value
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Limits
from ov_gather.ranges.algebra.symbols import Count, Elements
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Shape, Value, is_integer
from ov_gather.ranges.rules.call import TransferFunction
from ov_gather.ranges.rules.openvino import rule_of
from ov_gather.ranges.sites import Site, indexed_types, sites_of
from ov_gather.system.traversal import depth_first


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The operators that a kind of graph consists of.

    Attributes:
        rule_of: the transfer function of a node; None if its outputs keep their declared values. May raise ValueError for a
            wrong attribute.
        sites_of: the sites of a node of one of `site_types`; None instead of one if the node lacks an input or an attribute.
        site_types: the types of nodes that may read or write at an index.
        is_wanted: whether a tensor of a body is analysed even if no site depends on it.
    """

    rule_of: Callable[[Node], TransferFunction | None]
    sites_of: Callable[[Node], Sequence[Site | None]]
    site_types: Callable[[], Sequence[str]]
    is_wanted: Callable[[Graph, Key], bool] = lambda graph, key: False


OPENVINO = Vocabulary(rule_of, sites_of, indexed_types)
"""The operations of an IR and of an `openvino.Model`."""


class AnalysedGraph:
    """A graph with what it declares to the analysis. Parts of a broken model that make no sense are skipped.

    Attributes:
        graph: the graph.
        vocabulary: its operators.
        bounds: lower and upper bound of each dynamic dimension that `declared` has named so far.
        answers: the answers to questions about tensors, by the name of the question: see `origins`.
        doubts: what each node may meet, as far as `doubts` has looked for it.
        parts: the tensors that hold parts of inputs, as far as `cuts` has looked for them.
        counts_of_inputs, dims_of_inputs: what each analysis begins with, once one has begun: see `analyse`.
    """

    def __init__(self, graph: Graph, vocabulary: Vocabulary = OPENVINO) -> None:
        self.graph, self.vocabulary = graph, vocabulary
        self.bounds: dict[Symbol, tuple[int, Number]] = {}
        self.answers: dict[str, dict[Key, bool]] = {}
        self.doubts: dict[Node, Any] = {}
        self.parts: dict[Elements, list[Key]] = {}
        self.counts_of_inputs: Limits | None = None
        self.dims_of_inputs: dict[Symbol, tuple[int, Number]] | None = None
        self._declared: dict[Key, Value] = {}
        self._rules: dict[Node, TransferFunction | None] = {}
        self._ends: dict[object, list[Key]] = {}
        self.inputs, self.input_count, self.name_of = graph.inputs, graph.input_count, graph.name_of

    def producer(self, key: Key) -> Node | None:
        """Return the node that computes a tensor; None for inputs, constants and what a body receives."""
        node = self.graph.producer(key)
        return None if node is None or node.type in LEAVES else node

    def element_type(self, key: Key) -> ElementType | None:
        """Return the declared element type; unlike `declared`, reads no constant."""
        return self.graph.type_of(key)

    def declared(self, key: Key) -> Value:
        """Return what the model declares: type, shape with a symbol for each dynamic dimension, elements of a constant."""
        if key not in self._declared:
            self._declared[key] = self._declare(key)
        return self._declared[key]

    def _declare(self, key: Key) -> Value:
        element_type, array = self.graph.type_of(key), self.graph.constant(key)
        if array is not None:
            return constant_value(element_type, array)
        shape, node = self._shape(key), self.producer(key)
        if node is None or node.type == "ShapeOf" or not node.reads_shapes_only:
            return Value(element_type, shape, may_be_nan=not is_integer(element_type))
        symbol = Count(self.name_of(key), len(self._declared))
        self.bounds[symbol] = (0, LARGEST_SIZE)
        return Value(element_type, shape, Interval(0, LARGEST_SIZE, (), (Polynomial.symbol(symbol),)))

    def _shape(self, key: Key) -> Shape | None:
        dims = self.graph.shape_of(key).dims
        if dims is None:
            return None
        shape = []
        for axis, dim in enumerate(dims):
            if dim.is_static:
                shape.append(Polynomial.constant(dim.lower))
            else:
                symbol = self.graph.size_symbol(key, axis)
                self.bounds[symbol] = dim.lower, inf if dim.upper is None else dim.upper
                shape.append(Polynomial.symbol(symbol))
        return tuple(shape)

    def keys_of(self, elements: Elements) -> Sequence[Key]:
        """Return the tensors that hold elements of an input."""
        return self.parts[elements] if elements.spans else [self.inputs[elements.input]]

    def renamed(self, value: Value) -> Value:
        """Return a value with what this graph has instead of its dimensions: these themselves."""
        return value

    def rule(self, node: Node) -> TransferFunction | None:
        """Return the transfer function of a node; None if its outputs keep their declared values."""
        if node not in self._rules:
            try:
                self._rules[node] = self.vocabulary.rule_of(node) if node.inputs and not node.bodies else None
            except (KeyError, ValueError):  # a wrong attribute, which rules 2xx report
                self._rules[node] = None
        return self._rules[node]

    def ends(self, body: Body) -> list[Key]:
        """Return the tensors that a body is analysed for: those that leave it, and those that its sites depend on."""
        if body.id not in self._ends:
            self._ends[body.id] = [*body.ends, *self.wanted(self.graph.nodes_in(body))]
        return self._ends[body.id]

    def wanted(self, nodes: Iterable[Node]) -> Iterator[Key]:
        """Yield the tensors that sites of some nodes depend on, an output of each with bodies, and what else is wanted."""
        for node in nodes:
            if node.type in self._site_types:
                yield from (key for site in self.vocabulary.sites_of(node) if site is not None for key in site.operands)
            if node.bodies:
                yield from node.outputs[:1]
            yield from (key for key in node.outputs if self.vocabulary.is_wanted(self.graph, key))

    @cached_property
    def patterns(self) -> PatternGraph:
        """The graph with the questions that the patterns of faults ask; nothing is known of its numbers."""
        return PatternGraph(self.graph)

    # Sites

    @cached_property
    def arriving(self) -> Mapping[Key, Sequence[Key]]:
        """The tensors that arrive at each entry of a body, from outside or from the iteration before."""
        edges = [edge for node in self.graph.nodes() for body in node.bodies for edge in body.entries]
        return {edge.inner: [key for key in (edge.outer, edge.next) if key is not None] for edge in edges}

    @cached_property
    def _site_types(self) -> Sequence[str]:
        return self.vocabulary.site_types()

    @cached_property
    def places(self) -> list[tuple[Node, Site | None]]:
        """The nodes that read or write by indices, with each of its sites; None if it lacks an input or an attribute."""
        return [(node, site) for node in self.graph.nodes(*self._site_types) for site in self.vocabulary.sites_of(node)]

    @cached_property
    def nodes_with_sites(self) -> list[tuple[Node, Site]]:
        """The gathers and scatters of the model and its bodies, each with its site."""
        return [(node, site) for node, site in self.places if site is not None]

    @cached_property
    def sites(self) -> list[Site]:
        """The sites of the gathers and scatters of the model and its bodies."""
        return [site for _, site in self.nodes_with_sites]


def has_dynamic_shape(value: Value) -> bool:
    """Return True if the rank or a dimension is dynamic."""
    return value.shape is None or any(dim.value is None for dim in value.shape)


def in_order(graph: AnalysedGraph, wanted: Iterable[Key], *, without: Container[Key] = ()) -> list[Node]:
    """Return the nodes that the tensors depend on, in topological order.

    Nodes whose first output is in `without`, and what they depend on, are left out. Cycles of a broken model are cut.
    """

    def producers(keys: Iterable[Key]) -> list[Node]:
        steps = filter(None, map(graph.producer, keys))
        return [step for step in steps if step.outputs[0] not in without] if without else list(steps)

    return list(depth_first(producers(wanted), lambda step: producers(operands(graph, step))))


def operands(graph: AnalysedGraph, step: Node) -> list[Key]:
    """Return the inputs that a node depends on; without those that it reads only the shape of, if that is static."""
    given = step.sources
    return [key for key in given if has_dynamic_shape(graph.declared(key))] if step.reads_shapes_only else given

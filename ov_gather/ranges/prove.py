"""`prove`: whether the indices of each gather and scatter of a model can be out of bounds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import inf
from numbers import Real
from reprlib import repr as shortened
from typing import Any

from ov_gather.graph.ir import IrGraph
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.graph.symbols import OfInputs, Symbol
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, WeightsSource, read_ir
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Number
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.proof import Proof, Proofs
from ov_gather.ranges.proofs import prove_sites
from ov_gather.ranges.rules.call import CPU_PLUGIN

Limits = tuple[int | float | None, int | float | None]


def prove(
    source: Source | Model,
    *,
    weights: WeightsSource = None,
    assume: Mapping[str, Limits] | None = None,
    with_paths: bool = False,
) -> list[Proof]:
    """Prove for each gather, scatter and other operation that reads at an index whether one can be out of bounds.

    Args:
        source: an IR as `read_ir` takes it, or the `Model` that it returns; or an `openvino.Model`.
        weights: path or bytes of the .bin, if it is not beside the .xml.
        assume: the least and the greatest value to assume, by name of an input or of an open dimension such as "dim(x, 1)",
            quoted as in `Proof.requires` where that is ambiguous; None means unbounded.
        with_paths: add to each proof how its indices are computed, with what is known of each value.

    Returns:
        A Proof for each site, including those in bodies, in the order of the model; notebooks show the list as a table.

    Raises:
        IRError: the IR cannot be read.
        TypeError: `assume` is no dict of such pairs.
        ValueError: `assume` has an unknown name, contradicts itself or contradicts the model.
    """
    return prove_in(graph_of(source, weights), assume=assume, with_paths=with_paths)


def prove_in(graph: AnalysedGraph, *, assume: Mapping[str, Limits] | None = None, with_paths: bool = False) -> list[Proof]:
    """Prove like `prove`, for a model behind its adapter."""
    proofs = prove_sites(graph, CPU_PLUGIN, assumption(graph, assume or {}), graph.sites, with_paths=with_paths)
    return Proofs([*proofs, *_of_broken_nodes(graph)])


def _of_broken_nodes(graph: AnalysedGraph) -> list[Proof]:
    """Return "unknown" for nodes that lack an input or attribute, such as the layer of a fragment."""
    reason = "nothing feeds one of its inputs, an attribute is missing or wrong, or its index rule is a function"
    broken = [node for node, site in graph.places if site is None]
    return [Proof(node.full_name, node.type, node.line, "unknown", None, None, (None, None), reason) for node in broken]


def graph_of(source: Any, weights: WeightsSource = None) -> AnalysedGraph:
    """Return the graph of a model."""
    if isinstance(source, Model):
        return AnalysedGraph(IrGraph(source))
    if "openvino" in sys.modules and isinstance(source, sys.modules["openvino"].Model):
        return AnalysedGraph(OpenvinoGraph(source))
    return AnalysedGraph(IrGraph(read_ir(source, weights)))


def names_of(graph: AnalysedGraph) -> dict[str, Symbol]:
    """Return what `assume` accepts: inputs and open dimensions by the names that proofs show; inputs also as they are named.

    An input that is named like a dimension is meant by its quoted name alone.
    """
    for key in graph.inputs.values():
        graph.declared(key)
    subjects = [*map(Elements, graph.inputs), *(one for one in graph.bounds if isinstance(one, OfInputs))]
    return {name: Elements(name) for name in graph.inputs} | {str(one): one for one in subjects}


def assumption(graph: AnalysedGraph, assume: Mapping[str, Limits]) -> Assumption:
    """Convert `assume` to an assumption. Raises ValueError if a name is unknown or the bounds are contradictory; TypeError."""
    _check_form(assume)
    known = names_of(graph)
    inputs: dict[Elements, Interval] = {}
    dims: dict[Symbol, tuple[int, Number]] = {}
    for name, (low, high) in assume.items():
        least, greatest = -inf if low is None else low, inf if high is None else high
        if least > greatest:
            raise ValueError(f"assume {name}: no value is in {low}..{high}")
        subject = known.get(name)
        if isinstance(subject, Elements):
            inputs[subject] = Interval(least, greatest)
        elif subject is not None:
            broken = next((bound for bound in (low, high) if bound is not None and bound % 1 != 0), None)
            if broken is not None:
                raise ValueError(f"assume {name}: a dimension is a whole number, which {broken} is not")
            declared = graph.bounds[subject]
            dims[subject] = (int(max(least, declared[0])), min(greatest, declared[1]))
            if dims[subject][0] > dims[subject][1]:
                raise ValueError(f"assume {name}: the model allows {declared[0]}..{declared[1]} only")
        else:
            raise ValueError(
                f"assume {name}: the model has no such input or open dimension, but {', '.join(known) or 'none at all'}"
            )
    return Assumption(inputs, dims)


def _check_form(assume: Mapping[str, Limits]) -> None:
    if not isinstance(assume, Mapping):
        raise TypeError(f"assume must be a dict such as {{'input_ids': (0, 999)}}, not {shortened(assume)}")
    for name, limits in assume.items():
        is_pair = isinstance(limits, tuple | list) and len(limits) == 2
        if not is_pair or not all(limit is None or isinstance(limit, Real) for limit in limits):
            raise TypeError(f"assume {name}: give two numbers (lowest, highest), None if unbounded; not {shortened(limits)}")

"""What the analysis of ranges says of the tensors and the sites of a model, and the observations that contradict it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from helpers.index_sites import Arrays, Site, Tensor, tensor
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.graph.protocol import Key
from ov_gather.graph.symbols import Symbol
from ov_gather.ir.reader import read_ir
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.analysis import Assumption, analyse
from ov_gather.ranges.graph import AnalysedGraph, in_order
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.prove import graph_of, prove
from ov_gather.ranges.rules.call import CPU_PLUGIN, Semantics

Found = tuple[dict[Tensor, Value], dict[str, Proof]]
"""What the analysis claims of each tensor, and what `prove` says of each gather and scatter by its name."""


def by_ir(model: ov.Model) -> Found:
    """Analyse the IR of a model."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        ov.serialize(model, path)
        ir = read_ir(path)
    keys = {
        (layer.name, position): (0, layer.id, port.id) for layer in ir.layers for position, port in enumerate(layer.outputs)
    }
    return known_of(graph_of(ir), CPU_PLUGIN, keys, prove(ir))


def by_openvino(model: ov.Model) -> Found:
    """Analyse an `openvino.Model`."""
    keys = {tensor(one): (node.get_name(), one.get_index()) for node in model.get_ordered_ops() for one in node.outputs()}
    return known_of(graph_of(model), CPU_PLUGIN, keys, prove(model))


def known_of(graph: AnalysedGraph, semantics: Semantics, keys: Mapping[Tensor, Key], proofs: Iterable[Proof]) -> Found:
    """Return the claims on some tensors of a graph, beside its proofs."""
    analysis = analyse(graph, in_order(graph, list(keys.values())), semantics, Assumption())
    claims = {one: analysis.value(key) for one, key in keys.items()}
    return claims, {proof.layer.rpartition("/")[2]: proof for proof in proofs}


def off_by_one(model: ov.Model) -> Found:
    """Analyse wrongly: each bound of a computed value is one too tight, and each doubtful site is proved."""
    claims, proofs = by_ir(model)
    computed = {tensor(output) for node in model.get_ops() if node.get_input_size() for output in node.outputs()}
    for one in computed & claims.keys():
        bounds = claims[one].elements
        claims[one] = Value(None, None, Interval(bounds.low + 1, bounds.high - 1), may_be_nan=True)
    return claims, {name: replace(proof, status="proved", conditions=()) for name, proof in proofs.items()}


@dataclass
class Symbols:
    """The values of symbols, such as "dim(x0, 1)", in one trial."""

    values: dict[Symbol, int] = field(default_factory=dict)

    def set_bounds(self, claim: Value, array: NDArray[Any]) -> None:
        """Learn the sizes of dimensions from an array, unless their values are known."""
        if claim.shape is not None and len(claim.shape) == array.ndim:
            for dim, size in zip(claim.shape, array.shape, strict=True):
                if len(dim.terms) == 1 and len(dim.terms[0][0]) == 1 and dim.terms[0][1] == 1:
                    self.values.setdefault(dim.terms[0][0][0], size)

    def value(self, polynomial: Polynomial) -> int | None:
        """Evaluate a polynomial; None if one of its symbols was not observed."""
        if not polynomial.symbols <= self.values.keys():
            return None
        return sum(factor * prod(self.values[symbol] for symbol in monomial) for monomial, factor in polynomial.terms)


def complaints(claim: Value, array: NDArray[Any], symbols: Symbols) -> Iterator[str]:
    """Yield each way in which an array contradicts a claim."""
    if claim.shape is not None:
        if len(claim.shape) != array.ndim:
            yield f"has {array.ndim} dimensions, claimed are {len(claim.shape)}"
            return
        for axis, (dim, size) in enumerate(zip(claim.shape, array.shape, strict=True)):
            if symbols.value(dim) not in (None, size):
                yield f"dimension {axis} is {size}, claimed is {symbols.value(dim)} = {dim}"
            if all(factor > 0 for _, factor in dim.terms) and size < sum(
                factor for monomial, factor in dim.terms if not monomial
            ):
                yield f"dimension {axis} is {size}, claimed is {dim}, and no size is negative"
    if array.dtype.kind == "f" and not claim.may_be_nan and np.isnan(array).any():
        yield "has NaN, claimed is none"
    yield from _outside(claim.elements, array, symbols, "")
    if claim.parts is not None:
        axis, bounds = claim.parts.axis, claim.parts.intervals
        if array.shape[axis] != len(bounds):
            yield f"axis {axis} is of {array.shape[axis]}, claimed are bounds of {len(bounds)} slices"
            return
        for position, one in enumerate(bounds):
            yield from _outside(one, array.take(position, axis), symbols, f" in slice {position} along axis {axis}")


def _outside(bounds: Interval, array: NDArray[Any], symbols: Symbols, where: str) -> Iterator[str]:
    numbers = array.view(np.uint8) if array.dtype == np.bool_ else array
    numbers = numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else numbers
    if not numbers.size or numbers.dtype.kind == "U":
        return
    least, greatest = numbers.min().item(), numbers.max().item()
    for low, said in ((bounds.low, ""), *((symbols.value(low), f" = {low}") for low in bounds.lows)):
        if low is not None and least < low:
            yield f"{least} is below {low}{said}{where}"
    for high, said in ((bounds.high, ""), *((symbols.value(high), f" = {high}") for high in bounds.highs)):
        if high is not None and greatest > high:
            yield f"{greatest} is above {high}{said}{where}"


def beyond(model: ov.Model, feeds: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]]) -> list[str]:
    """Return each way in which the outputs of a model contradict what is claimed: of u32 and u64 as i32, as computed."""
    graph = OpenvinoGraph(model)
    given, made = [graph.key(port) for port in model.inputs], [graph.key(node.input_value(0)) for node in model.get_results()]
    analysed, symbols = AnalysedGraph(graph), Symbols()
    analysis = analyse(analysed, in_order(analysed, [*given, *made]), CPU_PLUGIN, Assumption())
    for key, array in zip(given, feeds, strict=True):
        symbols.set_bounds(analysis.value(key), array)
    return [
        f"{complaint}: {array}"
        for port, key, array in zip(model.outputs, made, outputs, strict=True)
        if port.get_partial_shape().compatible(ov.PartialShape(array.shape))  # else OpenVINO breaks with what it infers
        for complaint in complaints(analysis.value(key), array.view(_SIGNED.get(str(array.dtype), array.dtype)), symbols)
    ]


_SIGNED = {"uint32": np.dtype(np.int32), "uint64": np.dtype(np.int64)}


def complaint_of_site(proof: Proof, site: Site, seen: Arrays, *, is_within: bool) -> str:
    """Return how a trial contradicts a proof, or ""; `is_within` says whether the inputs satisfy its conditions."""
    outside = site.outside(seen)
    if outside is None or not outside.size:
        return ""
    index, data = seen[site.index], seen[site.data]
    shown = f"{index.ravel()[:12].tolist()} {list(index.shape)}"
    if proof.status == "refuted" and not outside.any():
        return f"refuted, but all indices {shown} are in bounds of data {list(data.shape)}"
    if outside.any() and (proof.status == "proved" or (proof.status == "conditional" and is_within)):
        return f"{proof.status}, but of indices {shown} some are out of bounds of data {list(data.shape)}"
    return ""


def claimed(claim: Value | None) -> str:
    """Describe a claim."""
    if claim is None:
        return "nothing"
    shape = "?" if claim.shape is None else f"[{', '.join(map(str, claim.shape))}]"
    return f"{claim.elements} {shape}{' NaN' if claim.may_be_nan else ''}"

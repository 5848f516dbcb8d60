"""The analysis of ranges, as what checks its claims sees it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import openvino as ov

from helpers.index_sites import Tensor, tensor
from helpers.range_checks import Bounds, Claim, Verdict
from ov_gather.ir.reader import read_ir
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.analysis import Assumption, analyse
from ov_gather.ranges.graph import Graph, Key, in_order
from ov_gather.ranges.ir_graph import IrGraph
from ov_gather.ranges.openvino_graph import OpenvinoGraph
from ov_gather.ranges.proofs import Proof
from ov_gather.ranges.prove import prove
from ov_gather.ranges.rules.call import CPU_PLUGIN, Semantics

Found = tuple[dict[Tensor, Claim], dict[str, Verdict]]


def by_ir(model: ov.Model) -> Found:
    """What `prove` says of each gather and scatter of an IR, and what the analysis behind it knows of each tensor."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        ov.serialize(model, path)
        ir = read_ir(path)
    keys = {
        (layer.name, position): (0, layer.id, port.id) for layer in ir.layers for position, port in enumerate(layer.outputs)
    }
    return known_of(IrGraph(ir), CPU_PLUGIN, keys, prove(ir))


def by_openvino(model: ov.Model) -> Found:
    """What `prove` says of an `openvino.Model`, and what the analysis behind it knows of each tensor."""
    keys = {tensor(one): (node.get_name(), one.get_index()) for node in model.get_ordered_ops() for one in node.outputs()}
    return known_of(OpenvinoGraph(model), CPU_PLUGIN, keys, prove(model))


def known_of(graph: Graph, semantics: Semantics, keys: Mapping[Tensor, Key], proofs: Iterable[Proof]) -> Found:
    """What the analysis knows of some tensors of a graph, beside its proofs, as what checks both sees it."""
    analysis = analyse(graph, in_order(graph, list(keys.values())), semantics, Assumption())
    claims = {one: _claim(analysis.value(key)) for one, key in keys.items()}
    return claims, {proof.layer.rpartition("/")[2]: Verdict(proof.status, proof.requires, proof.reason) for proof in proofs}


def _claim(value: Value) -> Claim:
    shape = None if value.shape is None else [dim.terms for dim in value.shape]
    parts = None if value.parts is None else (value.parts.axis, [_bounds(one) for one in value.parts.intervals])
    return Claim(_bounds(value.elements), shape, parts, value.may_be_nan)


def _bounds(interval: Interval) -> Bounds:
    return Bounds(
        interval.low, interval.high, [bound.terms for bound in interval.lows], [bound.terms for bound in interval.highs]
    )


def off_by_one(model: ov.Model) -> Found:
    """What the analysis says, wrongly: each bound of a computed value is one too tight, and each doubtful site is proved."""
    claims, verdicts = by_ir(model)
    computed = {tensor(output) for node in model.get_ops() if node.get_input_size() for output in node.outputs()}
    for one in computed & claims.keys():
        bounds = claims[one].elements
        claims[one] = Claim(Bounds(bounds.low + 1, bounds.high - 1))
    return claims, {name: Verdict("proved") for name in verdicts}

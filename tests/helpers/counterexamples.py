"""Execution of IRs to show that an index leaves its bounds: the evidence that no proof for all inputs exists.

A model is cut at the indices of its sites and executed on OpenVINO's CPU plugin with the shapes of a request. NumPy then
compares the indices with the size of their axis, which OpenVINO's shape inference gives. A run counts for a site only if the
indices of all sites that its own are computed from are in bounds, so that no value comes from memory outside of a tensor.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset16 as ops

from helpers.attacks import Attacks
from helpers.index_sites import Site, Tensor, site_of
from helpers.worker_process import DiedError, Worker
from ov_gather.graph.openvino import bodies
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.requests import request_terms
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.session import Session

SECONDS = 60.0
"""Limit of one execution."""
ONE_THREAD = {"INFERENCE_NUM_THREADS": 1}
KEPT = 64
"""Number of compiled models that are kept."""

_SHAPED_BY_SHAPES = """
    Abs Add BatchNormInference BitwiseAnd BitwiseNot BitwiseOr Ceiling Clamp Concat Convert Convolution Cos CumSum Divide Einsum
    Elu Equal Erf Exp Floor FloorMod Gather GatherElements GatherND Gelu Greater GreaterEqual GroupConvolution HSigmoid HSwish
    Less LessEqual Log LogSoftmax LogicalAnd LogicalNot LogicalOr MVN MatMul Maximum Minimum Mish Mod Multiply Negative NotEqual
    PRelu Power ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu Round ScaledDotProductAttention
    ScatterElementsUpdate ScatterNDUpdate ScatterUpdate Select Selu Sigmoid Sign Sin SoftPlus Softmax Sqrt SquaredDifference
    Squeeze Subtract Swish Tanh Transpose Unsqueeze
"""
SHAPED_BY_SHAPES = frozenset(_SHAPED_BY_SHAPES.split())
"""Operations whose shape depends on the shapes of their operands, and on constants."""
SHAPED_BY_FIRST = frozenset(("Broadcast", "Pad", "Reshape", "Slice", "StridedSlice", "Tile"))
"""Operations whose shape depends on the shape of the first operand, and on the values of the others."""


@dataclass(frozen=True)
class Attempt:
    """Arrays by the names of the inputs of an IR, and the names of sites that they may break."""

    path: Path
    feed: Mapping[str, NDArray[Any]]
    sites: tuple[str, ...]

    def alone(self) -> "list[Attempt]":
        """Return an attempt for each site; none if there is one site only."""
        return [replace(self, sites=(site,)) for site in self.sites] if len(self.sites) > 1 else []


class Breaker:
    """A worker process that executes attempts, and another one after a crash."""

    def __init__(self) -> None:
        self._worker = Worker[Attempt, set[str]](_broken, daemon=True)

    def broken(self, attempt: Attempt) -> set[str]:
        """Return the sites that have an index out of bounds. If all together crash, each is tried alone."""
        try:
            return self._worker.call(attempt, SECONDS)
        except DiedError:
            return set().union(*map(self.broken, attempt.alone()))

    def stop(self) -> None:
        """End the process."""
        self._worker.stop()


def shown_to_fail(
    path: Path, graph: AnalysedGraph, proofs: Mapping[str, Proof], samples: Mapping[str, NDArray[Any]], breaker: Breaker
) -> set[str]:
    """Return the layers of an IR of which a request breaks an index, among those that are not proved.

    Sizes that no condition names are tried for sites of which nothing is known.
    """
    doubtful = tuple(name for name, proof in proofs.items() if proof.status in ("conditional", "unknown"))
    attacks, broken = Attacks(graph, samples), set[str]()
    groups: dict[str, set[str]] = {}
    for name in doubtful:
        groups.setdefault(str(proofs[name].requires), set()).add(name)
    for names in groups.values():
        for feed in attacks.beyond(request_terms(graph, [proofs[min(names)]])):
            if names <= broken:
                break
            broken |= breaker.broken(Attempt(path, feed, tuple(sorted(names - broken))))
    unknown = {name for name in doubtful if proofs[name].status == "unknown"}
    for wanted, requests in ((set(doubtful), attacks.unusual_values()), (unknown, attacks.unusual_sizes())):
        for feed in requests:
            left = tuple(sorted(wanted - broken))
            if not left:
                break
            broken |= breaker.broken(Attempt(path, feed, left))
    return broken


_models: "dict[Path, _CuttableModel]" = {}


def _broken(attempt: Attempt) -> set[str]:
    if attempt.path not in _models:
        _models.clear()
        _models[attempt.path] = _CuttableModel(attempt.path)
    return _models[attempt.path].broken(attempt)


class _CuttableModel:
    def __init__(self, path: Path) -> None:
        self._core = ov.Core()
        self._model = self._core.read_model(path)
        self._cuts: dict[Any, _Cut | None] = {}
        self._before: dict[str, set[str]] = {}
        self._hidden: set[str] = set()
        for node in self._model.get_ordered_ops():
            if site_of(node) is not None:
                try:
                    self._before[node.get_friendly_name()] = {one.get_friendly_name() for one in _sites_before(node)}
                except RefusedError:
                    self._hidden.add(node.get_friendly_name())

    def broken(self, attempt: Attempt) -> set[str]:
        """Return the sites that have an index out of bounds; those behind one are not executed."""
        found, left = set[str](), set(attempt.sites) - self._hidden
        while left:
            first = {name for name in left if left.isdisjoint(self._before[name])}
            left -= first
            executed = tuple(sorted(name for name in first if found.isdisjoint(self._before[name])))
            found |= self._together(replace(attempt, sites=executed)) if executed else set()
        return found

    def _together(self, attempt: Attempt) -> set[str]:
        """Execute sites of which none is behind another. If OpenVINO refuses all together, each is tried alone."""
        cut = self._cut(attempt)
        try:
            found = None if cut is None else cut.broken(attempt)
        except RefusedError:
            found = None
        return set().union(*map(self._together, attempt.alone())) if found is None else found

    def _cut(self, attempt: Attempt) -> "_Cut | None":
        key = attempt.sites, tuple(array.shape for array in attempt.feed.values())
        if key not in self._cuts:
            while len(self._cuts) >= KEPT:
                self._cuts.pop(next(iter(self._cuts)))
            try:
                self._cuts[key] = _Cut(self._core, self._model.clone(), attempt)
            except (RefusedError, RuntimeError):  # the shapes do not fit
                self._cuts[key] = None
        return self._cuts[key]


class _Cut:
    """A compiled model whose outputs are the indices of some sites, and of all sites that these are computed from."""

    def __init__(self, core: ov.Core, model: ov.Model, attempt: Attempt) -> None:
        nodes = {node.get_friendly_name(): node for node in model.get_ordered_ops()}
        wanted, parameters = [nodes[name] for name in attempt.sites], model.get_parameters()
        self._inputs = [input_name(node, attempt.feed) for node in parameters]
        shapes = {node.output(0): list(attempt.feed[name].shape) for node, name in zip(parameters, self._inputs, strict=True)}
        operands = [ops.result(value) for node in wanted for value in node.input_values()]
        ov.Model(operands, model.get_sinks(), parameters, "shapes").reshape(shapes)
        self._sites: dict[str, Site] = {}
        self._before: dict[str, list[str]] = {}
        self._shapes: dict[Tensor, Sequence[int]] = {}
        self._outputs: dict[Tensor, ov.Output] = {}
        for node in wanted:
            before = _sites_before(node)
            self._before[node.get_friendly_name()] = [one.get_friendly_name() for one in before]
            for one in (node, *before):
                self._observe(one)
        results = [ops.result(value) for value in self._outputs.values()]
        self._session = Session(core, ov.Model(results, model.get_sinks(), parameters, "indices"), properties=ONE_THREAD)

    def _observe(self, node: ov.Node) -> None:
        site = site_of(node)
        assert site is not None
        self._sites[site.name] = site
        data, indices = node.input_value(0), node.input_value(1)
        self._outputs[site.index] = indices
        if data.get_partial_shape().is_static:
            self._shapes[site.data] = list(data.get_shape())
        else:
            self._outputs[_shape_of(site.data)] = ops.shape_of(data).output(0)

    def broken(self, attempt: Attempt) -> set[str]:
        """Return the sites that have an index out of bounds, while those before have none. Raises RefusedError."""
        found = self._session([attempt.feed[name] for name in self._inputs])
        seen = dict(zip(self._outputs, found, strict=True))
        shapes = {site.data: seen.get(_shape_of(site.data), self._shapes.get(site.data)) for site in self._sites.values()}
        seen |= {data: np.broadcast_to(np.int8(0), shape) for data, shape in shapes.items()}
        outside = {name for name, site in self._sites.items() if np.any(site.outside(seen))}
        return {name for name, before in self._before.items() if name in outside and outside.isdisjoint(before)}


def _shape_of(data: Tensor) -> Tensor:
    return f"shape of {data[0]}", data[1]


def _sites_before(node: ov.Node) -> list[ov.Node]:
    """Return the gathers and scatters that the indices are computed from, and those that decide the shape of the data."""
    found, seen = [], set()
    waiting = [(node.input_value(1), False), (node.input_value(0), True)]
    while waiting:
        value, is_of_shape = waiting.pop()
        one = value.get_node()
        if (one.get_name(), is_of_shape) in seen or (is_of_shape and value.get_partial_shape().is_static):
            continue
        seen.add((one.get_name(), is_of_shape))
        kind, operands = one.get_type_name(), one.input_values()
        if is_of_shape and (kind in SHAPED_BY_FIRST or kind in SHAPED_BY_SHAPES):
            shaping = operands if kind in SHAPED_BY_SHAPES else operands[:1]
            waiting += [(operand, place < len(shaping)) for place, operand in enumerate(operands)]
            continue
        found += [one] if site_of(one) is not None else []
        waiting += [(operand, kind == "ShapeOf") for operand in operands]
        if any(map(_has_sites, bodies(one))):
            raise RefusedError("sites in bodies are not observed")
    return list({one.get_name(): one for one in found}.values())


def _has_sites(body: ov.Model) -> bool:
    return any(site_of(node) is not None or any(map(_has_sites, bodies(node))) for node in body.get_ordered_ops())


def input_name(node: ov.Node, names: Collection[str]) -> str:
    """Return the name of a Parameter among those given: one of its tensor, or its own."""
    return next(name for name in (*sorted(node.output(0).get_names()), node.get_friendly_name()) if name in names)

"""A random ONNX model, as what judges the analysis of ranges sees it. What computes it is onnxruntime, one node at a time."""

from collections.abc import Callable, Mapping

import numpy as np
import onnx
from onnx import numpy_helper

from helpers.index_sites import Arrays, Site
from helpers.onnx_operators import Runner
from helpers.random_index_models import OnnxSample, onnx_sample
from helpers.random_onnx import OnnxBuilder
from helpers.range_analysis import Found, known_of
from helpers.range_judge import Judge, Operation, Subject
from helpers.range_judgements import Judgement
from helpers.range_trials import Trial
from ov_gather.converters.proofs import analysed, prove_graph
from ov_gather.ranges.rules.call import ONNX

SITES = ("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND")


def judge(seed: int, about_to: Callable[[str], bool]) -> Judgement:
    """Make the ONNX model of a seed, and judge what the analysis says of it."""
    about_to("making an ONNX model")
    return Judge(seed, OnnxSubject(onnx_sample(seed), about_to)).judgement()


def by_onnx(model: onnx.ModelProto) -> Found:
    """What `prove_onnx` says of each gather and scatter, and what the analysis behind it knows of each tensor."""
    graph = analysed(model)
    outermost = next(iter(graph.inputs.values())).graph
    keys = {
        (str(value.name), 0): value for values in (outermost.inputs, *(node.outputs for node in outermost)) for value in values
    }
    return known_of(graph, ONNX, keys, prove_graph(graph))


class OnnxSubject(Subject):
    """A random ONNX model. Each node is executed alone and once, and onnxruntime raises if an index is out of bounds."""

    def __init__(self, one: OnnxSample, about_to: Callable[[str], bool]) -> None:
        self.sample, self._graph, self._runner, self._about_to = one, one.model.graph, Runner(OnnxBuilder.opset), about_to
        self._constants = {(given.name, 0): numpy_helper.to_array(given) for given in self._graph.initializer}
        self.sites = [_site(node) for node in self._graph.node if node.op_type in SITES]
        self.operations = [
            *(Operation(given.name, [], [(given.name, 0)], f"{given.kind}{list(given.dims)} input") for given in one.inputs),
            *(Operation(name, [], [(name, 0)], "constant") for name, _ in self._constants),
            *(_operation(node) for node in self._graph.node),
        ]
        self.not_judged = {given.name for given in one.inputs} | {name for name, _ in self._constants}
        self.miscomputed: set[str] = set()

    def analysed(self) -> Mapping[str, Found]:
        return {"ONNX": by_onnx(self.sample.model)}

    def observe(self, trial: Trial) -> Arrays:
        arrays = [array.view(np.uint8) != 0 if array.dtype == np.bool_ else array for array in trial.arrays]
        values = dict(zip(trial.names, arrays, strict=True)) | {name: array for (name, _), array in self._constants.items()}
        for node in self._graph.node:
            results = self._runner.run(node, values) if self._about_to(f"running {node.name}") else None
            self.raised += results is None
            values |= zip(node.output, results or (), strict=results is not None)
        return {(name, 0): array for name, array in values.items()}


def _site(node: onnx.NodeProto) -> Site:
    attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    axis = None if "ND" in node.op_type else attributes.get("axis", 0)
    return Site(node.name, (node.input[1], 0), (node.input[0], 0), axis, True, attributes.get("batch_dims", 0))


def _operation(node: onnx.NodeProto) -> Operation:
    attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    shown = {name: value for name, value in attributes.items() if isinstance(value, (int, float, bytes, list))}
    operands = [(name, 0) for name in node.input if name]
    return Operation(node.output[0], operands, [(name, 0) for name in node.output], f"{node.op_type} {shown}")

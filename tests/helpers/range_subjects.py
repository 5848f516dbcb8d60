"""Random models as what judges the analysis of ranges sees them.

The CPU plugin executes a model of OpenVINO; onnxruntime executes an ONNX model, one node at a time.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import onnx
import openvino as ov
from onnx import numpy_helper

from helpers.index_sites import Arrays, Site, Tensor, sites_of, tensor
from helpers.onnx_operators import Runner
from helpers.random_index_models import onnx_sample, sample
from helpers.random_onnx import OnnxBuilder
from helpers.random_openvino import Sample
from helpers.range_analysis import Found, by_ir, by_openvino, known_of
from helpers.range_judge import Judge, Operation, Subject
from helpers.range_judgements import Judgement
from helpers.range_observations import Observer
from helpers.range_trials import Trial
from ov_gather.converters.proofs import analysed, prove_graph
from ov_gather.ranges.rules.call import ONNX
from ov_gather.system.traversal import reachable

ONNX_SITES = ("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND")
ADAPTERS: Mapping[str, Callable[[ov.Model], Found]] = {"IR": by_ir, "openvino.Model": by_openvino}
UNSTEADY = ("RandomUniform", "ReadValue")
"""These compute something else in each inference."""
REMOVABLE = ("Add", "Concat", "Multiply", "Negative", "Reshape", "Select", "Split", "Squeeze", "Transpose", "Unsqueeze")
"""OpenVINO removes these if they change nothing, or does them later."""
NOT_JUDGED = ("Parameter", "Assign")
"""Nothing is computed at these; what is given to a Parameter may not even fit into the 32 bits that the plugin keeps."""


def judge(
    seed: int,
    about_to: Callable[[str], bool],
    adapters: Mapping[str, Callable[[ov.Model], Found]] = ADAPTERS,
    make: Callable[[int], Sample] = sample,
) -> Judgement:
    """Make the model of a seed, and judge what each adapter of the analysis says of it."""
    made = make(seed)
    if not _is_accepted(made.model):
        return Judgement(seed, Counter({"models that OpenVINO refuses": 1}))
    return Judge(seed, OpenvinoSubject(made, about_to, adapters)).judgement()


def _is_accepted(model: ov.Model) -> bool:
    """Whether the shapes that OpenVINO infers fit each other; while it makes a model node by node, it knows less of them."""
    try:
        model.clone().validate_nodes_and_infer_types()
    except RuntimeError:
        return False
    return True


def judge_onnx(seed: int, about_to: Callable[[str], bool]) -> Judgement:
    """Make the ONNX model of a seed, and judge what the analysis says of it."""
    about_to("making an ONNX model")
    return Judge(seed, OnnxSubject(onnx_sample(seed), about_to)).judgement()


class OpenvinoSubject(Subject):
    def __init__(
        self, one: Sample, about_to: Callable[[str], bool], adapters: Mapping[str, Callable[[ov.Model], Found]]
    ) -> None:
        self.sample, self._about_to, self._adapters = one, about_to, adapters
        self._model = self.sample.model
        self._nodes = nodes = [node for node in self._model.get_ordered_ops() if node.get_type_name() != "Result"]
        self._outputs = {tensor(output): output for node in nodes for output in node.outputs()}
        unlike = {node.get_friendly_name() for node in nodes if _gives_out_freed_memory(node)}  # what is in their branches
        self.sites = [site for site in sites_of(self.sample) if site.index[0] not in unlike]
        self.operations = [_operation(node) for node in nodes]
        self._names = {operation.name for operation in self.operations}
        self.not_judged = {node.get_friendly_name() for node in nodes if node.get_type_name() in NOT_JUDGED}
        self.miscomputed: set[str] = set()
        for node in nodes:
            operands = {value.get_node().get_friendly_name() for value in node.input_values()}
            if operands & self.miscomputed or is_miscomputed(node):
                self.miscomputed.add(node.get_friendly_name())

    @property
    def raised(self) -> int:
        return self._observer.raised

    def analysed(self) -> Mapping[str, Found]:
        self._about_to("the analysis")
        found = {by: analysis(self._model) for by, analysis in self._adapters.items()}
        self._observer = Observer(self._model, self._about_to)
        return found

    def observe(self, trial: Trial) -> Arrays | None:
        seen = self._observer.observe(trial.arrays) if _takes(self._model.clone(), trial) else None
        return (
            seen if seen is None or all(_is_split_up(node, seen) and _is_spread(node, seen) for node in self._nodes) else None
        )

    def observe_alone(self, one: Tensor, trial: Trial, seen: Arrays) -> np.ndarray | None:
        return self._observer.observe_alone(one, trial.arrays, seen)

    def unsteady(self, seen: Arrays) -> set[str]:
        outside = {
            site.name if site.name in self._names else site.index[0]  # the node whose body it is in
            for site in self.sites
            if (found := replace(site, when=None).outside(seen)) is not None and found.any()
        }
        return outside | {
            node.get_friendly_name()
            for node in self._nodes
            if node.get_type_name() in UNSTEADY
            or _counts_what_becomes_zero(node)
            or _is_truth_of_another_output(node)
            or _is_quotient_of_constants(node, seen)
            or _gives_out_memory(node, seen)
            or _has_other_sizes(node, seen)
        }

    def kept(self, seen: Arrays) -> set[str]:
        return {node.get_friendly_name() for node in self._nodes if _has_no_iteration(node, seen)}

    def fits(self, one: Tensor, array: np.ndarray) -> bool:
        if one not in self._outputs:
            return True
        declared = self._outputs[one].get_partial_shape()
        return declared.rank.is_dynamic or ov.PartialShape(list(array.shape)).compatible(declared)


def _operation(node: ov.Node) -> Operation:
    attributes = "" if node.get_type_name() in ("Constant", "Parameter") else _attributes(node)
    kind = f"{node.get_type_name()}-{node.get_type_info().version_id.removeprefix('opset')}"
    types = [f"{one.get_element_type().get_type_name()}{one.get_partial_shape()}" for one in node.outputs()]
    operands, outputs = map(tensor, node.input_values()), map(tensor, node.outputs())
    return Operation(node.get_friendly_name(), list(operands), list(outputs), f"{', '.join(types)} {kind}{attributes}")


def _attributes(node: ov.Node) -> str:
    given = {name: value for name, value in node.get_attributes().items() if isinstance(value, (int, float, str, list))}
    return f" {given}" if given else ""


def is_miscomputed(node: ov.Node) -> bool:
    """Whether OpenVINO 2026.4.1 may do an operation wrongly.

    It takes the size of an open slice for that of what was sliced, counts the integers of a Range by fractions in two ways, and
    gives out memory as NonZero of random numbers.
    """
    if node.get_type_name() == "NonZero":
        return _is_random(node)
    if node.get_type_name() == "Range":
        kinds = {value.get_element_type().get_type_name() for value in (*node.input_values(), *node.outputs())}
        return "f32" in kinds and len(kinds) > 1
    if node.get_type_name() == "ShapeOf" and node.input_value(0).get_node().get_type_name() in ("Slice", "StridedSlice"):
        return node.input_value(0).get_partial_shape().is_dynamic
    return False


def _counts_what_becomes_zero(node: ov.Node) -> bool:
    """Whether OpenVINO may drop a conversion to integers, or to fewer bits, before NonZero, which then counts more."""
    one = node.input_value(0).get_node() if node.get_type_name() == "NonZero" else node
    while one.get_type_name() == "Convert":
        given, made = one.get_input_element_type(0), one.get_output_element_type(0)
        if given.is_real() or given.bitwidth > made.bitwidth:
            return node.get_type_name() == "NonZero"
        one = one.input_value(0).get_node()
    return False


def _is_truth_of_another_output(node: ov.Node) -> bool:
    """Whether OpenVINO may convert the first output of an operation instead of another one, unless all tensors are observed."""
    if node.get_type_name() != "Convert" or node.get_output_element_type(0) != ov.Type.boolean:
        return False

    def before(value: ov.Output) -> list[ov.Output]:
        return value.get_node().input_values() if value.get_node().get_type_name() in REMOVABLE else []

    return any(value.get_index() != 0 for value in reachable([node.input_value(0)], before, tensor))


def _is_quotient_of_constants(node: ov.Node, seen: Arrays) -> bool:
    """Whether a quotient of integers is rounded down if OpenVINO folds it, and towards 0 if the plugin computes it."""
    if node.get_type_name() != "Divide" or node.get_output_element_type(0).is_real() or not _is_of_constants(node):
        return False
    one, other = (seen.get(tensor(value)) for value in node.input_values())
    if one is None or other is None or not np.all(other):
        return True
    return bool((np.sign(one) * np.sign(other) * (np.abs(one) % np.abs(other)) < 0).any())


def _is_of_constants(node: ov.Node) -> bool:
    """Whether nothing but constants and shapes determine what an operation computes."""

    def before(one: ov.Node) -> list[ov.Node]:
        return [] if one.get_type_name() == "ShapeOf" else [value.get_node() for value in one.input_values()]

    found = reachable([node], before, lambda one: one.get_friendly_name())
    return not any(one.get_type_name() in ("Parameter", *UNSTEADY) for one in found)


def _is_random(node: ov.Node) -> bool:
    return node.get_type_name() == "RandomUniform" or any(_is_random(value.get_node()) for value in node.input_values())


def _takes(model: ov.Model, trial: Trial) -> bool:
    """Whether a model takes the shapes of a trial.

    OpenVINO lets a Squeeze make one element, which is not set, of none.
    """
    try:
        model.reshape({i: list(array.shape) for i, array in enumerate(trial.arrays)})
    except RuntimeError:
        return False
    squeezed = [node for node in model.get_ops() if node.get_type_name() == "Squeeze"]
    operands = [node.input_value(0).get_partial_shape() for node in squeezed]
    results = [node.get_output_partial_shape(0) for node in squeezed]
    pairs = [pair for pair in zip(operands, results, strict=True) if all(shape.is_static for shape in pair)]
    return all(np.prod(list(one.to_shape())) == np.prod(list(other.to_shape())) for one, other in pairs)


def _is_split_up(node: ov.Node, seen: Arrays) -> bool:
    """Whether an axis is as long as the parts of a VariadicSplit: OpenVINO lets a part of a short one have a negative size."""
    operands = [seen.get(tensor(value)) for value in node.input_values()]
    if node.get_type_name() != "VariadicSplit" or any(operand is None for operand in operands):
        return True
    whole, axis, lengths = operands
    rest = whole.shape[int(axis)] - lengths[lengths != -1].sum()
    return bool(rest >= 0 if -1 in lengths else rest == 0)


def _is_spread(node: ov.Node, seen: Arrays) -> bool:
    """Whether a Broadcast has sizes of 1, or those of its target; OpenVINO may drop others before operations by element."""
    operands = [seen.get(tensor(value)) for value in node.input_values()]
    if node.get_type_name() != "Broadcast" or len(operands) > 2 or any(operand is None for operand in operands):
        return True
    data, target = operands
    is_both = node.get_attributes()["mode"] == "bidirectional"
    pairs = zip(data.shape[::-1], target.ravel()[::-1], strict=False)
    return all(size in (1, wanted) or (is_both and wanted == 1) for size, wanted in pairs)


def _gives_out_freed_memory(node: ov.Node) -> bool:
    """Whether outputs of a node, in the first inference that executes a branch, are not what the branch has computed."""
    return node.get_type_name() == "If" and sum(one.get_partial_shape().is_dynamic for one in node.outputs()) > 1


def _has_other_sizes(node: ov.Node, seen: Arrays) -> bool:
    """Whether a Transpose of nothing has not the sizes of its operand, which a ShapeOf that is executed without it has."""
    operands = [seen.get(tensor(value)) for value in node.input_values()]
    if (
        node.get_type_name() != "Transpose"
        or any(operand is None for operand in operands)
        or tensor(node.output(0)) not in seen
    ):
        return False
    data, order = operands
    sizes = data.shape[::-1] if not order.size else tuple(data.shape[axis] for axis in order)
    return seen[tensor(node.output(0))].shape != sizes


def _has_no_iteration(node: ov.Node, seen: Arrays) -> bool:
    """Whether a Loop is not repeated once: it then gives out the slices that it has joined in the inference before."""
    numbers = [seen.get(tensor(value)) for value in node.input_values()[:2]]  # trips, and whether to begin
    return node.get_type_name() == "Loop" and any(number is not None and number < 1 for number in numbers)


def _gives_out_memory(node: ov.Node, seen: Arrays) -> bool:
    """Whether OpenVINO gives out what happens to be in memory.

    It does where elements are made of an operand without any, where a TopK wants more than there are, where a StridedSlice both
    adds and removes axes, where a branch of some Ifs is executed for the first time, and in a Loop without an iteration.
    """
    if _gives_out_freed_memory(node):
        return True
    operands = [seen.get(tensor(value)) for value in node.input_values()]
    if _has_no_iteration(node, seen):
        return True
    if node.get_type_name() == "StridedSlice":
        attributes = node.get_attributes()
        if any(attributes["new_axis_mask"]) and any(attributes["shrink_axis_mask"]):
            return True
    if node.get_type_name() == "TopK" and operands[0] is not None and operands[1] is not None:
        return bool(operands[0].shape[node.get_attributes()["axis"]] < operands[1])
    if node.get_type_name() in ("ShapeOf", "Concat", "Pad"):
        return False
    is_empty = any(operand is not None and not operand.size for operand in operands)
    return is_empty and any(tensor(output) in seen and seen[tensor(output)].size for output in node.outputs())


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

    def __init__(self, one: Sample, about_to: Callable[[str], bool]) -> None:
        self.sample, self._graph, self._runner, self._about_to = one, one.model.graph, Runner(OnnxBuilder.opset), about_to
        self._constants = {(given.name, 0): numpy_helper.to_array(given) for given in self._graph.initializer}
        self.sites = [_onnx_site(node) for node in self._graph.node if node.op_type in ONNX_SITES]
        self.operations = [
            *(Operation(given.name, [], [(given.name, 0)], f"{given.kind}{list(given.dims)} input") for given in one.inputs),
            *(Operation(name, [], [(name, 0)], "constant") for name, _ in self._constants),
            *(_onnx_operation(node) for node in self._graph.node),
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


def _onnx_site(node: onnx.NodeProto) -> Site:
    attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    axis = None if "ND" in node.op_type else attributes.get("axis", 0)
    return Site(node.name, (node.input[1], 0), (node.input[0], 0), axis, True, attributes.get("batch_dims", 0))


def _onnx_operation(node: onnx.NodeProto) -> Operation:
    attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    shown = {name: value for name, value in attributes.items() if isinstance(value, (int, float, bytes, list))}
    operands = [(name, 0) for name in node.input if name]
    return Operation(node.output[0], operands, [(name, 0) for name in node.output], f"{node.op_type} {shown}")

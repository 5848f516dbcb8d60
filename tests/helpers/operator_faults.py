"""Single changes of valid calls, the IRs that hold them, and what OpenVINO says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from helpers.operator_samples import Given, Sample
from helpers.worker_process import call_each
from ov_gather import validate
from ov_gather.ir.element_types import by_name
from ov_gather.rules.findings import Severity

if TYPE_CHECKING:
    import openvino

Declared = list[tuple[str, tuple[int, ...]]]
"""The element types and shapes of outputs."""
Verdict = tuple[str, Declared]
"""What OpenVINO does with a model, "ok" or the step at which it refuses it, and the outputs that it infers."""
LENIENT = {
    r"\w+: input \d: (f16|f32|f64)": "OpenVINO reads integers that are given as fractions",
    r"(LSTM|GRU|RNN)\w+: (hidden_size|clip)=.*": "OpenVINO takes the hidden size from the weights, and clips to nothing",
    r"CumSum: input 0: one dimension less": "OpenVINO sums along an axis that data of open sizes lacks",
    r"FakeQuantize: levels=.*": "what fewer than two levels give, nobody says",
    r"LRN: size=0": "a window of nothing",
    r"LogicalNot: input 0: .*": "OpenVINO inverts numbers",
    r"(BinaryConvolution|DeformableConvolution|ExtractImagePatches|MaxPool): (strides|dilations|sizes|rates|pads_\w+)=.*": (
        "OpenVINO takes negative strides and pads without a check"
    ),
    r"BinaryConvolution: input 1: (i32|i64|boolean)": "OpenVINO reads filters of any type, and the plugin compiles none",
    r"Col2Im: \w+=\d,\d,1": "OpenVINO reads as many numbers as it needs",
    r"DeformablePSROIPooling: .*": "OpenVINO checks ranks, and reads what is not there",
    r"DetectionOutput: input 1: dimension 1 is 0": "classes that are none",
    r"DetectionOutput: input_(height|width)=.*": "OpenVINO divides by 0",
    r"ExperimentalDetectron\w+: (pre|post)_nms_count=-.*": "OpenVINO takes a negative number for all boxes",
    r"ExperimentalDetectron\w+: (deltas_weights|pyramid_scales)=.*": "OpenVINO reads numbers that are not there",
    r"ExperimentalDetectronGenerate\w+: input \d: dimension 0 is 0": "anchors, deltas or scores that are none",
    r"(PSROIPooling|ROI\w+|\w+ROIFeatureExtractor): (group_size|pooled_[hw]|output_size)=.*": "OpenVINO pools to nothing",
    r"ROIAlign\w*: input 0: dimension 0 is 0": "regions of images that are none",
    r"PriorBox: (min_size|max_size|aspect_ratio|density|fixed_\w+)=.*": "boxes that are none",
    r"PriorBox\w*: input \d: (one element (more|less)|dimension 0 is \d)": "OpenVINO reads two numbers, whatever is there",
    r"Proposal: (base_size|pre_nms_topn|feat_stride|ratio|scale)=.*": "anchors that are none, or more than the scores have",
    r"Proposal: (as it is|input [01]: dimension [23] .*)": "OpenVINO compares only channels, with each other",
    r"NonMaxSuppression: input 2: fed by .*": "OpenVINO reads integers that are given as fractions",
    r"RegionYolo: .*": "OpenVINO computes the regions that attributes name, whatever the input has",
    r"\w*Convolution\w*: input \d: dimension \d is 0": "a kernel, or an image, without elements",
    r"PReLU: input \d: dimension \d is 0": "a slope, or channels, without elements",
    r"Interpolate: .*": "OpenVINO reads as many pads, sizes and axes as it needs, and sizes of 0",
    r"(Adaptive\w+|Broadcast|PriorBox\w*|RandomUniform): input \d: element \d is -\d+": (
        "OpenVINO takes a negative size for an open one"
    ),
    r"SpaceToBatch: input \d: (i32|element \d is -\d+)": "OpenVINO cuts by negative pads, and takes integers of two types",
    r"Squeeze: .*": "OpenVINO keeps an axis that is longer than 1",
    r"Reshape: input 1: .*": "OpenVINO does not count elements where a size is copied",
    r"Selu: input \d: (one (dimension|element) more|dimension 0 is \d)": "OpenVINO reads the first number",
    r"TopK: input 0: dimension 1 is 0": "OpenVINO makes up elements",
    r"Gather: input 2: .*": "OpenVINO takes the first number of an axis",
    r"(If|Loop|TensorIterator): .*": "OpenVINO does not compare types outside and inside",
    r"Unsqueeze: input 1: element 0 is -1": "OpenVINO inserts an axis that is named twice once",
    r"VariadicSplit: .*": "OpenVINO makes parts of lengths beyond the axis",
    r"Embedding\w+: input 0: dimension 0 is 0": "OpenVINO makes up the rows of a table without rows",
    r"Embedding\w+: input 2: element \d is .*": "OpenVINO takes bags in any order",
    r"(EmbeddingSegmentsSum: input 3|SegmentMax: input 2): element 0 is -100": "OpenVINO takes a negative size for an open one",
    r"GroupedMatMul: input (1: dimension 0 is \d|2: one element (more|less))": "OpenVINO does not count groups",
    r"ScaledDotProductAttention: input 0: dimension 2 is 1": "OpenVINO repeats the query for each row of the mask",
    r"ScaledDotProductAttention: with one more input": "OpenVINO does not look at a seventh input",
    r"Selu: input [12]: one (dimension|element) more": "OpenVINO reads the first number",
    r"SliceScatter: input [01]: (i32|i64|boolean)": "OpenVINO does not compare the types of data and updates",
    r"SparseFillEmptyRows: input [03]: (i32|i64|boolean)": "OpenVINO does not compare the types of values and default value",
    r"ISTFT: input 0: dimension 3 is .*": "OpenVINO reads and writes outside of the frames",
}
"""Changes that OpenVINO accepts and the specification does not, by what `changed` calls them; and what OpenVINO does."""
UNFOUND = {
    r"Broadcast: with one more input": "the names of axes are read in one mode only",
    r"ExtractImagePatches: rates=1,100": "the CPU plugin dies of patches far beyond the image, which is no fault of the layer",
    r"Interpolate: input \d: element 1 is -1": "negative axes of Interpolate are in no specification",
    r"LRN: input 1: element 0 is .*": "the CPU plugin alone wants the axis of channels",
    r"MatrixNms: (score|post)_threshold=0.0": "the CPU plugin refuses scores by which no box is left",
    r"Proposal: pre_nms_topn=1": "the CPU plugin dies of fewer than 8 boxes, which is no fault of the layer",
    r"Unique: input 0: dimension 0 is 0": "no elements are a matter of the known faults",
    r"EmbeddingBagPacked: input 1: dimension 1 is 0": "no elements are a matter of the known faults",
    r"ScaledDotProductAttention: input 0: dimension [01] is 1": "OpenVINO alone repeats no batch of queries that have a sink",
    r"I?RDFT: input (0: dimension \d is 1|2: element \d is (-1|100))": "the CPU plugin alone pads no signal, and reads no -1",
}
"""Changes that OpenVINO refuses and `validate` does not report, and why."""

WITHOUT_PLUGIN = frozenset({"BGRtoNV12", "BinaryConvolution", "GroupedMatMul", "RGBtoNV12"})
"""Operators that the CPU plugin does not compile as the samples call them: what reading the model refuses counts."""


def outcomes(sample: Sample) -> list[tuple[str, str, list[str]]]:
    """Return for a call and each single change its name, what OpenVINO does, and the errors that `validate` reports.

    Outputs are declared as OpenVINO infers them; for what it refuses, as those of the valid call.
    """
    return _outcomes(sample, changed(sample), read_by_openvino if sample.type in WITHOUT_PLUGIN else judged_by_openvino)


def open_outcomes(sample: Sample) -> list[tuple[str, str, list[str]]]:
    """Return the same for inputs whose sizes or elements are open, by what OpenVINO reads."""
    return _outcomes(sample, opened(sample), read_by_openvino)


def _outcomes(
    sample: Sample, others: Iterator[tuple[str, Sample]], verdict: Callable[[tuple[bytes, bytes]], Verdict]
) -> list[tuple[str, str, list[str]]]:
    changes = [("", sample), *others]
    undeclared: Declared = [("f32", ())] * sample.outputs
    models = [ir_of(one, undeclared) for _, one in changes]
    judged = call_each(verdict, models, lambda _: ("end of the process", []), limit=15)
    _, of_valid = judged[0]
    told = []
    for (what, one), (done, inferred) in zip(changes, judged, strict=True):
        xml, weights = ir_of(one, inferred if done == "ok" else of_valid or undeclared)
        findings = validate(xml, weights=weights)
        errors = [f"{found.rule}: {found.message}" for found in findings if found.severity is Severity.ERROR]
        told.append((what, done, errors))
    return told


def opened(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """Yield the call with inputs that are less known: each dimension, all of an input, the elements of a constant."""
    for port, given in enumerate(sample.inputs):
        shapes = [(*given.shape[:place], -1, *given.shape[place + 1 :]) for place in range(len(given.shape))]
        others = [replace(given, shape=shape, elements=None) for shape in (*shapes, (-1,) * len(given.shape))]
        for other in (*others, *([replace(given, elements=None)] if given.elements is not None else [])):
            inputs = (*sample.inputs[:port], other, *sample.inputs[port + 1 :])
            yield f"input {port}: {other}", replace(sample, inputs=inputs)


def changed(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """Yield single changes of a call, each with its name. Whether one is a fault, OpenVINO tells."""
    for name, value in sample.attributes.items():
        for other in dict.fromkeys(other_texts(value)):
            yield f"{name}={other}", replace(sample, attributes={**sample.attributes, name: other})
    for port, given in enumerate(sample.inputs):
        for what, other_given in _other_inputs(given):
            inputs = (*sample.inputs[:port], other_given, *sample.inputs[port + 1 :])
            yield f"input {port}: {what}", replace(sample, inputs=inputs)
    if len(sample.inputs) > 1:
        yield "without the last input", replace(sample, inputs=sample.inputs[:-1])
    yield "with one more input", replace(sample, inputs=(*sample.inputs, Given("f32", (2,))))


def other_texts(value: str) -> Iterator[str]:
    """Yield other values of an attribute."""
    parts = value.split(",")
    if all(part.removeprefix("-").isdecimal() for part in parts):
        for place in range(len(parts)):
            for other in ("0", "-1", "1", "100", "-100"):
                yield ",".join((*parts[:place], other, *parts[place + 1 :]))
        if "," in value:
            yield ",".join(parts[:-1])
            yield f"{value},1"
    elif "." in value:
        yield from ("-1.0", "0.0")
    elif value in ("true", "false"):
        yield "false" if value == "true" else "true"


def _other_inputs(given: Given) -> Iterator[tuple[str, Given]]:
    for kind in ("f16", "i32", "boolean", "f32", "i64"):
        if kind != given.kind:
            yield kind, replace(given, kind=kind)
    if given.elements is not None:
        yield from _other_elements(given, given.elements)
        return
    for place, size in enumerate(given.shape):
        for other in (size + 1, 1, 0, 2 * size):
            if other != size:
                shape = (*given.shape[:place], other, *given.shape[place + 1 :])
                yield f"dimension {place} is {other}", replace(given, shape=shape)
    yield "one dimension more", replace(given, shape=(1, *given.shape))
    if given.shape:
        yield "one dimension less", replace(given, shape=given.shape[:-1])


def _other_elements(given: Given, elements: tuple[float, ...]) -> Iterator[tuple[str, Given]]:
    for place in range(len(elements)):
        for other in (0, 1, -1, 2, 100, -100):
            if other != elements[place]:
                changed_elements = (*elements[:place], float(other), *elements[place + 1 :])
                yield f"element {place} is {other}", replace(given, elements=changed_elements)
    yield "one dimension more", replace(given, shape=(1, *given.shape))
    if given.shape:
        yield "one element more", replace(given, shape=(len(elements) + 1,), elements=(*elements, elements[-1]))
        yield "one element less", replace(given, shape=(len(elements) - 1,), elements=elements[:-1])


def ir_of(sample: Sample, declared: Declared) -> tuple[bytes, bytes]:
    """Return the .xml and the .bin of a model of one call, whose outputs are declared so."""
    net = etree.Element("net", name="sample", version="11")
    layers, edges = etree.SubElement(net, "layers"), etree.Element("edges")
    content = b""
    call = len(sample.inputs)
    for number, given in enumerate(sample.inputs):
        kind = "Parameter" if given.elements is None else "Const"
        layer = etree.SubElement(layers, "layer", id=str(number), name=f"in{number}", type=kind, version="opset1")
        data = {"element_type": given.kind, "shape": ",".join(map(str, given.shape))}
        if given.elements is not None:
            element_type = by_name(given.kind)
            assert element_type is not None
            payload = np.array(given.elements).astype(element_type.dtype).tobytes() or b"\0"
            data |= {"offset": str(len(content)), "size": str(len(payload))}
            content += payload
        etree.SubElement(layer, "data", data)
        _port(etree.SubElement(layer, "output"), 0, given.kind, given.shape)
        etree.SubElement(
            edges, "edge", {"from-layer": str(number), "from-port": "0", "to-layer": str(call), "to-port": str(number)}
        )
    layer = etree.SubElement(layers, "layer", id=str(call), name="call", type=sample.type, version=f"opset{sample.opset}")
    if sample.attributes:
        etree.SubElement(layer, "data", dict(sample.attributes))
    inputs, outputs = etree.SubElement(layer, "input"), etree.SubElement(layer, "output")
    for number, given in enumerate(sample.inputs):
        _port(inputs, number, given.kind, given.shape)
    for number, (kind, shape) in enumerate(declared):
        port = call + number
        _port(outputs, port, kind, shape)
        result = etree.SubElement(
            layers, "layer", id=str(call + 1 + number), name=f"out{number}", type="Result", version="opset1"
        )
        _port(etree.SubElement(result, "input"), 0, kind, shape)
        ends = {"from-layer": str(call), "from-port": str(port), "to-layer": str(call + 1 + number), "to-port": "0"}
        etree.SubElement(edges, "edge", ends)
    net.append(edges)
    return etree.tostring(net), content


def _port(side: etree._Element, number: int, kind: str, shape: tuple[int, ...]) -> None:
    element_type = by_name(kind)
    port = etree.SubElement(side, "port", id=str(number), precision="FP32" if element_type is None else element_type.precision)
    for size in shape:
        etree.SubElement(port, "dim").text = str(size)


def read_by_openvino(item: tuple[bytes, bytes]) -> Verdict:
    """Return whether OpenVINO reads a model: "ok" or "read"; and the outputs that it infers."""
    model = _read(item)
    return ("read", []) if model is None else ("ok", _outputs(model))


def judged_by_openvino(item: tuple[bytes, bytes]) -> Verdict:
    """Return what OpenVINO does with a model: "ok", or the step at which it refuses it; and the outputs that it infers."""
    import openvino as ov

    model = _read(item)
    if model is None:
        return "read", []
    return execution(ov.Core(), model, {}), _outputs(model)


def execution(core: Any, model: Any, sizes: Mapping[str, Sequence[int]]) -> str:
    """Execute a model on zeros; return "ok", or the step that fails. Open dimensions are those of `sizes`, or 2."""
    try:
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
    except RuntimeError:
        return "compilation"
    request = compiled.create_infer_request()
    try:
        request.start_async({place: _zeros(one, sizes) for place, one in enumerate(compiled.inputs)})
        request.wait()
    except RuntimeError:
        return "inference"
    return "ok"


def _read(item: tuple[bytes, bytes]) -> openvino.Model | None:
    import openvino as ov

    try:
        return ov.Core().read_model(item[0], ov.Tensor(np.frombuffer(item[1] or b"\0", np.uint8)))
    except RuntimeError:
        return None


def _outputs(model: openvino.Model) -> Declared:
    return [
        (
            value.get_element_type().get_type_name(),
            tuple(d.get_length() if d.is_static else -1 for d in value.get_partial_shape()),
        )
        if value.get_partial_shape().rank.is_static
        else (value.get_element_type().get_type_name(), ())
        for value in chain.from_iterable(result.input_values() for result in model.get_results())
    ]


def _zeros(given: Any, sizes: Mapping[str, Sequence[int]]) -> NDArray[Any]:
    shape, known = given.get_partial_shape(), sizes.get(given.get_node().get_friendly_name(), ())
    dims = enumerate(shape if shape.rank.is_static else [])
    found = [dim.get_length() if dim.is_static else max(2, dim.get_min_length(), *known[i : i + 1]) for i, dim in dims]
    return np.zeros(found if shape.rank.is_static else known, given.get_element_type().to_dtype())

"""Single faults in whole IRs, and IRs to make them in: the calls of operators, varied and between other layers.

A fault is consistent: the ports that declare what it changes change with it, so that only the layers that read it can tell.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from lxml import etree

from helpers.operator_faults import execution, ir_of, other_texts
from helpers.operator_samples import Given, Sample
from ov_gather.ir.element_types import ElementType, by_name
from ov_gather.rules.opsets import operations

Files = tuple[bytes, bytes]
"""The .xml and the .bin."""
Sizes = Mapping[str, tuple[int, ...]]
"""The shape of each input, as far as it is open in the model."""
TYPES = ("f16", "f32", "f64", "i32", "i64", "u8", "boolean")
ELEMENTS = (0, 1, -1, 2, 100, -100)


# ---- valid models; what needs OpenVINO runs in a worker process


def varied(item: tuple[Sample, int]) -> tuple[Files, Sizes] | None:
    """Return a call with other sizes, or ranks, of another opset, open, with constants that are converted, and between layers.

    None if OpenVINO does not execute it.
    """
    import openvino as ov

    sample, seed = item
    rng, core = random.Random(seed), ov.Core()
    other = _other_call(sample, rng)
    xml, weights = ir_of(other, [("f32", ())] * sample.outputs)
    try:
        model = core.read_model(xml, ov.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
        sizes = {one.get_friendly_name(): tuple(one.get_output_shape(0)) for one in model.get_parameters()}
        _surround(model, rng)
    except RuntimeError:
        return None
    return (_files(model), sizes) if execution(core, model, sizes) == "ok" else None


def read(path: Path) -> tuple[Files, Sizes] | None:
    """Return the IR of a file; None if OpenVINO does not execute it."""
    import openvino as ov

    core = ov.Core()
    try:
        model = core.read_model(path)
    except RuntimeError:
        return None
    return (_files(model), {}) if execution(core, model, {}) == "ok" else None


def outcome(item: tuple[Files, Sizes]) -> tuple[str, Files | None]:
    """Return what OpenVINO does with a model: "ok", or the step that fails; and the model with the ports that it infers."""
    import openvino as ov

    (xml, weights), sizes = item
    core = ov.Core()
    try:
        model = core.read_model(xml, ov.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
    except RuntimeError:
        return "read", None
    made = _files(model)
    return execution(core, model, sizes), made


def _files(model: Any) -> Files:
    import openvino as ov

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        ov.save_model(model, path, compress_to_fp16=False)
        return path.read_bytes(), path.with_suffix(".bin").read_bytes()


def _other_call(sample: Sample, rng: random.Random) -> Sample:
    opset = rng.choice([int(name.removeprefix("opset")) for name in operations()[sample.type]])
    known = operations()[sample.type][f"opset{opset}"]
    attributes = {name: value for name, value in sample.attributes.items() if name in known}
    times, lead = 1 if "hidden_size" in known else rng.choice((1, 2, 3)), rng.random() < 0.3
    inputs = tuple(_other_sizes(given, times, lead) for given in sample.inputs)
    return rng.choice([replace(sample, opset=opset, attributes=attributes), replace(sample, inputs=inputs)])


def _other_sizes(given: Given, times: int, lead: bool) -> Given:
    if given.elements is not None or not given.shape:
        return given
    sizes = tuple(size * times if size > 1 else size for size in given.shape)
    return replace(given, shape=(2, *sizes) if lead else sizes)


def _surround(model: Any, rng: random.Random) -> None:
    """Convert constants, read inputs through layers, open dimensions, and compute from the outputs."""
    import openvino as ov
    from openvino import opset13 as op

    for node in model.get_ops():
        kind = str(node.get_output_element_type(0).get_type_name()) if node.get_output_size() else ""
        if node.get_type_name() == "Constant" and kind in ("i64", "f32") and rng.random() < 0.4:
            stored = op.constant(node.data.astype(np.int32 if kind == "i64" else np.float16))
            _insert(node, op.convert(stored, kind))
    for node in model.get_parameters():
        shape = list(node.get_output_partial_shape(0))
        if shape and rng.random() < 0.5:
            axis = rng.randrange(len(shape))
            shape[axis] = rng.choice((ov.Dimension(-1), ov.Dimension(1, 4 * shape[axis].get_length())))
            node.set_partial_shape(ov.PartialShape(shape))
        if str(node.get_element_type().get_type_name()) in ("f32", "i32", "i64") and rng.random() < 0.5:
            readers = node.output(0).get_target_inputs()
            between = op.multiply(node, op.constant(np.ones((), node.get_element_type().to_dtype())))
            for reader in readers:
                reader.replace_source_output(between.output(0))
    for result in model.get_results():
        value = result.input_value(0)
        if rng.random() < 0.5:
            behind = rng.choice(
                (lambda v: op.concat([v, v], -1), lambda v: op.reshape(v, op.constant([-1]), False), op.shape_of)
            )
            if value.get_partial_shape().rank.is_dynamic or value.get_partial_shape().rank.get_length():
                result.input(0).replace_source_output(behind(value).output(0))
    model.validate_nodes_and_infer_types()


def _insert(node: Any, instead: Any) -> None:
    for reader in node.output(0).get_target_inputs():
        reader.replace_source_output(instead.output(0))


# ---- faults


class Faulty:
    """A copy of an IR in which one thing is changed."""

    def __init__(self, files: Files, rng: random.Random) -> None:
        self.root, self.weights, self.rng = etree.fromstring(files[0]), files[1], rng
        graphs = [layers.getparent() for layers in self.root.iter("layers")]
        self.graph = rng.choice(graphs)
        self.layers = {layer.get("id"): layer for layer in self.graph.iterfind("layers/layer")}
        self.edges = self.graph.findall("edges/edge")

    @property
    def files(self) -> Files:
        """The .xml and the .bin."""
        return etree.tostring(self.root), self.weights

    # Each fault returns its name, which begins with the layer that it harms, or None if it cannot be made here.

    def attribute(self) -> str | None:
        """Another value of an attribute."""
        found = [
            (layer, name, text)
            for layer in self.layers.values()
            if layer.get("type") not in ("Const", "Parameter", "Result") and layer.find("data") is not None
            for name, value in layer.find("data").attrib.items()
            for text in dict.fromkeys(other_texts(value))
            if text != value
        ]
        if not found:
            return None
        layer, name, text = self.rng.choice(found)
        layer.find("data").set(name, text)
        return f"{layer.get('type')}: {name}={text}"

    def element(self) -> str | None:
        """Another element of a constant of few integers."""
        layer = self._leaf("Const", lambda kind, count: kind in ("i32", "i64") and 0 < count <= 16)
        if layer is None:
            return None
        array = self._array(layer)
        place = self.rng.randrange(array.size)
        value = self.rng.choice([one for one in ELEMENTS if one != array.flat[place]])
        array.flat[place] = value
        self._store(layer, array)
        return f"{self._reader(layer)}: element {place} is {value}"

    def dimension(self) -> str | None:
        """Another size of a constant, whose elements are repeated, or cut off."""
        layer = self._leaf("Const", lambda kind, count: 0 < count <= 10**6)
        if layer is None:
            return None
        array = self._array(layer)
        if not array.ndim:
            return None
        axis = self.rng.randrange(array.ndim)
        size = self.rng.choice((array.shape[axis] + 1, array.shape[axis] - 1, 2 * array.shape[axis]))
        self._store(layer, np.resize(array, (*array.shape[:axis], size, *array.shape[axis + 1 :])))
        return f"{self._reader(layer)}: dimension {axis} is {size}"

    def parameter(self) -> str | None:
        """Another size of an input of the model, or one dimension more or less."""
        layer = self._leaf("Parameter") if self.graph is self.root else None
        if layer is None:
            return None
        text = layer.find("data").get("shape")
        dims = text.split(",") if text else []
        axis = self.rng.randrange(len(dims)) if dims else 0
        what = self.rng.choice(("size", "size", "more", "less")) if dims else "more"
        if what == "size":
            old = int(dims[axis]) if dims[axis].isdecimal() else 3
            dims[axis] = str(self.rng.choice((old + 1, 2 * old, 0 if old > 1 else 7)))
        dims = ["1", *dims] if what == "more" else dims[:-1] if what == "less" else dims
        layer.find("data").set("shape", ",".join(dims))
        self._declare(layer, [dim if dim.isdecimal() else "-1" for dim in dims])
        return f"{self._reader(layer)}: " + (f"dimension {axis} is {dims[axis]}" if what == "size" else f"one dimension {what}")

    def type(self) -> str | None:
        """Another element type of a constant, or of an input of the model."""
        leaves = ("Const", "Parameter") if self.graph is self.root else ("Const",)
        layer = self._leaf(self.rng.choice(leaves), lambda kind, count: kind in TYPES)
        if layer is None:
            return None
        kind = self.rng.choice([name for name in TYPES if name != layer.find("data").get("element_type")])
        if layer.get("type") == "Const":
            self._store(layer, self._array(layer).astype(_type(kind).dtype))
        layer.find("data").set("element_type", kind)
        self._declare(layer, precision=_type(kind).precision)
        return f"{self._reader(layer)}: {kind}"

    def swapped(self) -> str | None:
        """Two inputs of a layer in each other's place."""
        pairs = [
            (one, other)
            for place, one in enumerate(self.edges)
            for other in self.edges[place + 1 : place + 6]
            if one.get("to-layer") == other.get("to-layer") and _source(one) != _source(other)
        ]
        if not pairs:
            return None
        one, other = self.rng.choice(pairs)
        first, second = _source(one), _source(other)
        self._connect(one, second)
        self._connect(other, first)
        return f"{self.layers[one.get('to-layer')].get('type')}: inputs {one.get('to-port')} and {other.get('to-port')} swapped"

    def redirected(self) -> str | None:
        """An input that another layer feeds, which stands before the reader."""
        if not self.edges:
            return None
        edge = self.rng.choice(self.edges)
        order = list(self.layers)
        before = order[: order.index(edge.get("to-layer"))]
        values = [
            (number, port.get("id"))
            for number in before
            for port in self.layers[number].iterfind("output/port")
            if (number, port.get("id")) != _source(edge)
        ]
        if not values:
            return None
        source = self.rng.choice(values)
        self._connect(edge, source)
        fed = self.layers[source[0]].get("type")
        return f"{self.layers[edge.get('to-layer')].get('type')}: input {edge.get('to-port')}: fed by {fed} {source[0]}"

    def _leaf(self, kind: str, fits: Callable[[str, int], bool] = lambda kind, count: True) -> etree._Element | None:
        found = [
            layer
            for layer in self.layers.values()
            if layer.get("type") == kind and fits(layer.find("data").get("element_type"), _count(layer))
        ]
        return self.rng.choice(found) if found else None

    def _reader(self, leaf: etree._Element) -> str:
        """Name the first reader of a leaf: its type, and the input."""
        edge = next((edge for edge in self.edges if edge.get("from-layer") == leaf.get("id")), None)
        return "nothing" if edge is None else f"{self.layers[edge.get('to-layer')].get('type')}: input {edge.get('to-port')}"

    def _array(self, layer: etree._Element) -> np.ndarray:
        data = layer.find("data")
        kind, offset, shape = _type(data.get("element_type")), int(data.get("offset")), _shape(layer)
        return np.frombuffer(self.weights, kind.dtype, int(np.prod(shape)), offset).reshape(shape).copy()

    def _store(self, layer: etree._Element, array: np.ndarray) -> None:
        """Give a constant other elements, which are appended, as other constants may share the old ones."""
        content = array.tobytes() or b"\0"
        values = {"shape": ", ".join(map(str, array.shape)), "offset": str(len(self.weights)), "size": str(len(content))}
        for name, value in values.items():
            layer.find("data").set(name, value)
        self.weights += content
        self._declare(layer, list(map(str, array.shape)))

    def _declare(self, layer: etree._Element, dims: Sequence[str] | None = None, precision: str = "") -> None:
        """Let the output port of a leaf declare what it is, and the ports of its readers, too."""
        (output,) = layer.findall("output/port")
        ports = [output, *(self._end(edge) for edge in self.edges if edge.get("from-layer") == layer.get("id"))]
        for port in ports:
            if precision:
                port.set("precision", precision)
            if dims is not None:
                _set_dims(port, dims)

    def _connect(self, edge: etree._Element, source: tuple[str, str]) -> None:
        edge.set("from-layer", source[0])
        edge.set("from-port", source[1])
        (output,) = (port for port in self.layers[source[0]].iterfind("output/port") if port.get("id") == source[1])
        end = self._end(edge)
        end.set("precision", output.get("precision"))
        _set_dims(end, [dim.text for dim in output.findall("dim")])

    def _end(self, edge: etree._Element) -> etree._Element:
        reader = self.layers[edge.get("to-layer")]
        return next(port for port in reader.iterfind("input/port") if port.get("id") == edge.get("to-port"))


KINDS = ("attribute", "element", "dimension", "parameter", "type", "swapped", "redirected")


def fault(files: Files, kind: str, seed: int) -> tuple[str, Files] | None:
    """Return the name of a fault of this kind in an IR, and the IR with it; None if none can be made there."""
    faulty = Faulty(files, random.Random(seed))
    name = getattr(faulty, kind)()
    return None if name is None else (name, faulty.files)


def _type(name: str) -> ElementType:
    found = by_name(name)
    assert found is not None
    return found


def _shape(layer: etree._Element) -> tuple[int, ...]:
    text = layer.find("data").get("shape")
    return tuple(int(dim) for dim in text.split(",")) if text else ()


def _count(layer: etree._Element) -> int:
    return int(np.prod(_shape(layer))) if layer.get("type") == "Const" else 0


def _source(edge: etree._Element) -> tuple[str, str]:
    return edge.get("from-layer"), edge.get("from-port")


def _set_dims(port: etree._Element, dims: Sequence[str]) -> None:
    for dim in port.findall("dim"):
        port.remove(dim)
    for place, size in enumerate(dims):
        dim = etree.Element("dim")
        dim.text = size
        port.insert(place, dim)

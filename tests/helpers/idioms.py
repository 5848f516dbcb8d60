"""Idioms that OpenVINO computes wrongly, as ONNX models: with a layer between, in bodies, of inputs or constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
from numpy.typing import NDArray

from helpers.idiom import LAYERS, OPSETS, OTHERS, PLACES, SOURCES
from helpers.idioms_of_loops import OF_LOOPS
from helpers.idioms_of_numbers import OF_NUMBERS
from helpers.idioms_of_shapes import OF_SHAPES

IDIOMS = {**OF_NUMBERS, **OF_LOOPS, **OF_SHAPES}
"""All of them, in the order by which forms are spread."""
_MAXIMUM = (
    "a = ReduceMax<axes = [2], keepdims = 1>(x)",
    "h = Constant<value = int64[1] {2}>() a = ReduceMax<keepdims = 1>(x, h)",
)
"""ReduceMax of the last of three axes, before opset 18 and since."""
_NUMBERS = {"float": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "uint32": 12}


@dataclass(frozen=True)
class Form:
    """An idiom with a layer between its halves, in an opset, a place, and of sources."""

    idiom: str
    layer: str
    opset: int
    place: str
    source: str

    @property
    def parts(self) -> tuple[str, str, int, str, str]:
        """Return what the form consists of."""
        return self.idiom, self.layer, self.opset, self.place, self.source

    def __str__(self) -> str:
        return "-".join(map(str, self.parts))

    def model(self) -> tuple[onnx.ModelProto, dict[str, NDArray[Any]]]:
        """Return the model and its inputs."""
        idiom = IDIOMS[self.idiom]
        given, made, feeds = self._sources()
        names = [one.split()[-1] for one in re.split(r",(?![^\[]*\])", idiom.outputs)]
        body, outputs, ends = self._nodes(), idiom.outputs, ""
        if self.place == "If":
            given, feeds = [*given, "bool go"], {**feeds, "go": np.array(True)}
            sides = (
                f"{one}_branch = {one} () => ({_renamed(outputs, names, one)}) {{ {_renamed(body, names, one)} }}"
                for one in ("then", "else")
            )
            body = f"{', '.join(names)} = If (go) <{', '.join(sides)}>"
        elif self.place == "Loop":
            step = f"(int64 i, bool on_in) => (bool on_out, {_renamed(outputs, names, 'in')})"
            body = f"""trips = Constant<value = int64 {{2}}>() on = Constant<value = bool {{1}}>()
                {", ".join(names)} = Loop (trips, on) <body = step {step}
                {{ on_out = Identity(on_in) {_renamed(body, names, "in")} }}>"""
        elif self.place == "Scan":  # whose states are the inputs: OpenVINO refuses bodies that read outer values
            states = [*idiom.inputs]
            types = ", ".join(f"{_kind(value)}{list(value.shape)} {name}" for name, value in idiom.inputs.items())
            step = f"""({_renamed(types, states, "in")}, float[1] element) =>
                ({_renamed(types, states, "k")}, {_renamed(outputs, names, "in")}, float[1] seen)"""
            kept = " ".join(f"{name}_k = Identity({name}_in)" for name in states)
            inside = _renamed(_renamed(body, names, "in"), states, "in")
            body = f"""sequence = Constant<value = float[2, 1] {{1, 2}}>()
                {", ".join(f"{name}_l" for name in states)}, {", ".join(names)}, elements = Scan <num_scan_inputs = 1,
                body = step {step} {{ {inside} {kept} seen = Identity(element) }}> ({", ".join(states)}, sequence)"""
            ends = ", float[2, 1] elements"  # else OpenVINO would make one iteration
        if self.place in ("Loop", "Scan"):  # of two iterations
            outputs = re.sub(
                r"(\w+)(?:\[(.*?)\])? (\w+)(,|$)",
                lambda m: f"{m[1]}[2{', ' + m[2] if m[2] else ''}] {m[3]}{m[4]}",
                outputs,
            )
        version = next(version for version, last in ((8, 18), (9, 20), (10, OPSETS[-1])) if self.opset <= last)
        text = f"({', '.join(given)}) => ({outputs}{ends}) {{ {' '.join(made)} {body} }}"
        model = onnx.parser.parse_model(f'<ir_version: {version}, opset_import: ["" : {self.opset}]> g {text}')
        _store_as_bytes(model.graph)
        return model, feeds

    def _nodes(self) -> str:
        """Return the nodes of the idiom, with the layer between its halves."""
        found = IDIOMS[self.idiom]
        layer = (
            {**LAYERS, **OTHERS}[self.layer]
            .replace("T {", f"{found.type} {{")
            .replace("to = N", f"to = {_NUMBERS[found.type]}")
        )
        since_18 = self.opset > 17
        before = found.before.replace("MAXIMUM", _MAXIMUM[since_18]).replace("SPLIT", ", num_outputs = 2" if since_18 else "")
        return f"{before} {layer} {found.after}"

    def _sources(self) -> tuple[list[str], list[str], dict[str, NDArray[Any]]]:
        """Return the declarations of inputs, the nodes that compute from them what the idiom reads, and what to feed."""
        declared, made, feeds = list[str](), list[str](), dict[str, NDArray[Any]]()
        for name, value in IDIOMS[self.idiom].inputs.items():
            kind, shape = _kind(value), f"int64[{value.ndim}] {{{_numbers(np.array(value.shape))}}}"
            if self.source == "constant":
                made.append(f"{name} = Constant<value = {kind}{list(value.shape) or ''} {{{_numbers(value)}}}>()")
            elif self.source in ("input", "open"):
                is_open = self.source == "open" and name not in IDIOMS[self.idiom].closed
                shape = [f"{name}{axis}" for axis in range(value.ndim)] if is_open else map(str, value.shape)
                declared.append(f"{kind}[{', '.join(shape)}] {name}" if value.ndim else f"{kind} {name}")
                feeds[name] = np.asarray(value)
            elif self.source == "looked up":
                made.append(f"""{name}_d = Constant<value = {kind}[{value.size}] {{{_numbers(value)}}}>()
                    {name}_e = GatherElements<axis = 0>({name}_d, {name}_0)
                    {name}_s = Constant<value = {shape}>() {name} = Reshape({name}_e, {name}_s)""")
                declared.append(f"int64[{value.size}] {name}_0")
                feeds[f"{name}_0"] = np.arange(value.size)
            else:
                made.append(f"{name}_s = Constant<value = {shape}>() {name} = Reshape({name}_0, {name}_s)")
                declared.append(f"{kind}{[*value.shape, 1]} {name}_0")
                feeds[f"{name}_0"] = np.asarray(value)[..., None]
        return declared, made, feeds


def _store_as_bytes(graph: onnx.GraphProto) -> None:
    """Store the constants of a graph, and of its bodies, as exporters do: OpenVINO misreads u32 in a list of numbers."""
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.HasField("t"):
            attribute.t.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(attribute.t)))
        _store_as_bytes(attribute.g)


def _kind(value: NDArray[Any]) -> str:
    return {"float32": "float"}.get(str(value.dtype), str(value.dtype))


def _numbers(value: NDArray[Any]) -> str:
    return ", ".join(map(str, (value.astype(int) if value.dtype == bool else value).ravel().tolist()))


def _renamed(text: str, names: Sequence[str], suffix: str) -> str:
    return re.sub(rf"(?<![\[<=])\b({'|'.join(names)})\b(?![\]=])", rf"\1_{suffix}", text)


_OF_SCAN = ("input", "computed", "looked up")
"""The states of a Scan are inputs of its body, of known shapes."""


def forms() -> list[Form]:
    """Return every form, of which some are no model of their opset."""
    return [
        Form(idiom, layer, opset, place, source)
        for idiom, found in IDIOMS.items()
        for layer in found.layers
        for opset in OPSETS
        for place in found.places
        for source in SOURCES
        if place != "Scan" or source in _OF_SCAN
    ]


def balanced(rounds: int) -> list[Form]:
    """Return each idiom with each layer, once a round, each time in another opset, place and source: all these pairs occur."""
    found = []
    for number in range(rounds):
        for i, (idiom, one) in enumerate(IDIOMS.items()):
            for j, layer in enumerate(one.layers):
                if (j - number) % one.share:
                    continue
                k = i + j + 3 * number
                place = one.places[(k + i // len(PLACES) + j // len(PLACES)) % len(one.places)]
                sources = _OF_SCAN if place == "Scan" else SOURCES
                opset = OPSETS[(5 * i + 3 * j + i // len(OPSETS) + 9 * number) % len(OPSETS)]
                found.append(Form(idiom, layer, opset, place, sources[(i + 3 * j + j // len(SOURCES) + number) % len(sources)]))
    return found

"""407: declared outputs compared with those that OpenVINO infers. Runs on request only, because it needs openvino."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ov_gather.extension.users import UserExtension
from ov_gather.ir.element_types import by_name
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Edge, Layer, Model, Port
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.urls import is_url
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.graph import is_in_order_of_execution
from ov_gather.rules.shapes import dims_text
from ov_gather.system.platforms import in_forked_processes

if TYPE_CHECKING:
    from ov_gather.rules.inferring import InferredOutputs
    from ov_gather.system.worker import Worker


@dataclass(frozen=True, slots=True)
class Inferred:
    """One graph, and what OpenVINO infers for its layers, by name.

    `types_kept` is False for IR version 10, since OpenVINO changes types when it reads those. `refusal` says what happens if
    OpenVINO does not read the model, and `culprit` is the layer that it does not read, if that can be told; no outputs are
    known then.
    """

    graph: Model
    outputs: Mapping[str, InferredOutputs]
    types_kept: bool = True
    refusal: str = ""
    culprit: Layer | None = None


def inferred_graphs(model: Model, extensions: tuple[UserExtension, ...] = ()) -> Iterator[tuple[tuple[str, ...], Inferred]]:
    """Yield the graphs of a document, each with its sub-graph path and OpenVINO's outputs. Raises ImportError."""
    from ov_gather.ir.writer import to_bytes  # not earlier: without --infer, it is not needed

    is_file = model.path and not is_url(model.path)
    culprit: Layer | None = None
    try:
        found = _ask(extensions, *((str(Path(model.path).absolute()),) if is_file else to_bytes(model)))
        if isinstance(found, str):
            culprit = _culprit(model, extensions, found)
    except IRError as error:  # where a rule against it is ignored
        found = f"the model cannot be written for OpenVINO: {error}"
    if isinstance(found, str):
        yield (), Inferred(model, {}, refusal=found, culprit=culprit)
    else:
        yield from _walk(model, found, (), model.version > 10)


_workers: dict[tuple[UserExtension, ...], Worker] = {}
"""The worker that infers, for each set of extensions that it has loaded."""
_lock = Lock()
_SEARCHED = 2**28
"""Bytes of the largest .bin of which parts are read again to find the layer that OpenVINO does not read."""
in_forked_processes(_workers.clear)  # they belong to the parent


def _ask(extensions: tuple[UserExtension, ...], *source: str | bytes) -> dict[str, InferredOutputs] | str:
    """Return the outputs that OpenVINO infers, or what happens instead. Raises ImportError."""
    from ov_gather.system.worker import CrashedError, Worker  # not earlier: without --infer, no worker is needed

    with _lock:
        worker = _workers.get(extensions)
        if worker is None or not worker.alive:
            worker = _workers[extensions] = Worker("ov_gather.rules.inferring", "InferringReader")
        try:
            found: dict[str, InferredOutputs] | str = worker.ask("outputs", extensions, *source)
        except CrashedError as error:
            return f"OpenVINO {error}, when it reads the model"
    return f"OpenVINO refuses the model: {found}" if isinstance(found, str) else found


def _culprit(model: Model, extensions: tuple[UserExtension, ...], refusal: str) -> Layer | None:
    """Return the first layer that OpenVINO does not read, with those before it; None if that cannot be told."""
    from ov_gather.ir.writer import to_bytes

    if "hangs" in refusal or _weight(model) > _SEARCHED or not is_in_order_of_execution(model):
        return None

    def is_read(count: int) -> bool:
        return not isinstance(_ask(extensions, *to_bytes(_beginning(model, count))), str)

    read, refused = 0, len(model.layers)
    if is_read(refused):
        return None
    while refused - read > 1:
        middle = (read + refused) // 2
        read, refused = (middle, refused) if is_read(middle) else (read, middle)
    return model.layers[read]


def _weight(model: Model) -> int:
    """Return the number of bytes of the .bin; 0 if there is none."""
    try:
        return model.weights.size() if model.weights else 0
    except OSError:
        return 0


def _beginning(model: Model, count: int) -> Model:
    """Return the model of the first layers, with a Result for each output that none of them reads."""
    layers = model.layers[:count]
    kept = {layer.id for layer in layers}
    edges = tuple(edge for edge in model.edges if edge.from_layer in kept and edge.to_layer in kept)
    read = {(edge.from_layer, edge.from_port) for edge in edges}
    ends = [(layer, port) for layer in layers for port in layer.outputs if (layer.id, port.id) not in read]
    free = max(kept, default=0) + 1
    results = tuple(
        Layer(free + i, f"end {free + i}", "Result", "opset1", inputs=(Port(0, port.dims),)) for i, (_, port) in enumerate(ends)
    )
    edges += tuple(Edge(layer.id, port.id, free + i, 0) for i, (layer, port) in enumerate(ends))
    return replace(model, layers=(*layers, *results), edges=edges)


def _walk(
    graph: Model, found: Mapping[str, InferredOutputs], subgraph_path: tuple[str, ...], types_kept: bool
) -> Iterator[tuple[tuple[str, ...], Inferred]]:
    # Names identify nodes only if they are unique; OVG114 reports the others.
    unique = {name for name, count in Counter(layer.name for layer in graph.layers).items() if count == 1}
    outputs = {name: found[name] for name in unique if name in found}
    yield subgraph_path, Inferred(graph, outputs, types_kept)
    for layer in graph.layers:
        for body in layer.bodies if layer.name in outputs else ():
            inner = outputs[layer.name].bodies[body.tag]
            yield from _walk(body, inner, (*subgraph_path, f"{layer.type} '{layer.name}'", body.tag), types_kept)


@rule("OVG407", Inferred)
def drift(inferred: Inferred) -> Iterator[Violation]:
    """An output port of any layer declares another type or shape than OpenVINO infers, or OpenVINO refuses the model.

    OpenVINO ignores declared outputs, but other tools trust them. Declare what the operation produces. This rule needs
    openvino, and runs only with --infer. OpenVINO reads the model in a process of its own; if that crashes or hangs, it is a
    finding, at the first layer that OpenVINO does not read.
    """
    if inferred.refusal:
        yield Violation.at(inferred.culprit or inferred.graph, inferred.refusal, "")
    for layer in inferred.graph.layers:
        found = inferred.outputs.get(layer.name)
        if found is None or len(layer.outputs) != len(found.types):
            continue
        for port, (type_name, dims) in zip(layer.outputs, found.types, strict=True):
            element_type, shape = by_name(type_name), PartialShape.parse(dims)
            other_type = inferred.types_kept and port.element_type not in (None, element_type)
            if other_type or not port.may_have(shape):
                message = f"declares {port.precision} of {dims_text(port)}, but OpenVINO infers {element_type} of {shape}"
                yield Violation.at(layer, message, "declare what the operation gives, or correct its inputs", port=port)

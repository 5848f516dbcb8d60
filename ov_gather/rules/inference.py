"""407: declared outputs compared with those that OpenVINO infers. Runs on request only, because it needs openvino."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ov_gather.extension.users import UserExtension
from ov_gather.ir.element_types import by_name
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.urls import is_url
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.shapes import dims_text
from ov_gather.system.platforms import in_forked_processes

if TYPE_CHECKING:
    from ov_gather.rules.inferring import InferredOutputs
    from ov_gather.system.worker import Worker


@dataclass(frozen=True, slots=True)
class Inferred:
    """One graph, and what OpenVINO infers for its layers, by name.

    `types_kept` is False for IR version 10, since OpenVINO changes types when it reads those. `refusal` says what happens if
    OpenVINO does not read the model; no outputs are known then.
    """

    graph: Model
    outputs: Mapping[str, InferredOutputs]
    types_kept: bool = True
    refusal: str = ""


def inferred_graphs(model: Model, extensions: tuple[UserExtension, ...] = ()) -> Iterator[tuple[tuple[str, ...], Inferred]]:
    """Yield the graphs of a document, each with its sub-graph path and OpenVINO's outputs. Raises ImportError."""
    found = _ask(model, extensions)
    if isinstance(found, str):
        yield (), Inferred(model, {}, refusal=found)
    else:
        yield from _walk(model, found, (), model.version > 10)


_workers: dict[tuple[UserExtension, ...], Worker] = {}
"""The worker that infers, for each set of extensions that it has loaded."""
_lock = Lock()
in_forked_processes(_workers.clear)  # they belong to the parent


def _ask(model: Model, extensions: tuple[UserExtension, ...]) -> dict[str, InferredOutputs] | str:
    """Return the outputs that OpenVINO infers, or what happens instead. Raises ImportError."""
    from ov_gather.ir.writer import to_bytes  # not earlier: without --infer, neither this nor a worker is needed
    from ov_gather.system.worker import CrashedError, Worker

    is_file = model.path and not is_url(model.path)
    source = (str(Path(model.path).absolute()),) if is_file else to_bytes(model)
    with _lock:
        worker = _workers.get(extensions)
        if worker is None or not worker.alive:
            worker = _workers[extensions] = Worker("ov_gather.rules.inferring", "InferringReader")
        try:
            found: dict[str, InferredOutputs] | str = worker.ask("outputs", extensions, *source)
        except CrashedError as error:
            return f"OpenVINO {error}, when it reads the model"
    return f"OpenVINO refuses the model: {found}" if isinstance(found, str) else found


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
    openvino, and runs only with --infer. OpenVINO reads the model in a process of its own; if that crashes, it is a finding.
    """
    if inferred.refusal:
        yield Violation.at(inferred.graph, inferred.refusal, "")
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

"""What OpenVINO infers for the outputs of a model. It runs in a worker process: reading some models ends the process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import openvino as ov

from ov_gather.extension import reason
from ov_gather.extension.users import UserExtension, core_for_reading
from ov_gather.graph.openvino import bodies
from ov_gather.ir.bodies import BODIES


@dataclass(frozen=True, slots=True)
class InferredOutputs:
    """The element type and the partial shape of each output of a node, as texts, and its bodies, by tag and name of node."""

    types: list[tuple[str, str]]
    bodies: dict[str, dict[str, InferredOutputs]] = field(default_factory=dict)


class InferringReader:
    """OpenVINO as a reader of models."""

    version = ov.__version__
    _core: Any = None

    def outputs(
        self, extensions: tuple[UserExtension, ...], source: str | bytes, weights: bytes = b""
    ) -> dict[str, InferredOutputs] | str:
        """Return the outputs of each node of a model, by name, or OpenVINO's reason for refusing it.

        `source` is the path of an .xml file, or its content. The extensions are those of the first call.
        """
        if self._core is None:
            self._core = core_for_reading(extensions)  # without a compiler for ours, a model with our operations is refused
            self._core.set_property({"ENABLE_MMAP": False})  # reading a mapping of a truncated file kills the process (SIGBUS)
        try:
            read = self._core.read_model(source) if isinstance(source, str) else self._core.read_model(source, weights)
        except RuntimeError as error:
            return reason(error)
        return _outputs(read)


def _outputs(graph: Any) -> dict[str, InferredOutputs]:
    return {node.get_friendly_name(): _outputs_of(node) for node in graph.get_ops()}


def _outputs_of(node: Any) -> InferredOutputs:
    types = [
        (node.get_output_element_type(i).get_type_name(), str(node.get_output_partial_shape(i)).strip("[]"))
        for i in range(node.get_output_size())
    ]
    inner = bodies(node)
    tags = BODIES[node.get_type_name()].tags if inner else ()
    return InferredOutputs(types, {tag: _outputs(body) for tag, body in zip(tags, inner, strict=True)})

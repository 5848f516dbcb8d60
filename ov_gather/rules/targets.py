"""7xx: what an older release of OpenVINO lacks. These rules run only with --target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ov_gather.ir.model import Layer, Model
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.opsets import in_any_case, opsets_of
from ov_gather.rules.releases import first_with_element_type, first_with_operation, is_before, opsets_with


@dataclass(frozen=True, slots=True)
class Targeted:
    """One graph, and the release, one of RELEASES, that shall read it."""

    graph: Model
    release: str


@rule("OVG708", Targeted)
def operation_of_later_release(targeted: Targeted) -> Iterator[Violation]:
    """The release given by --target lacks the operation of a layer in the opset that the layer names.

    That release refuses the model. Name an opset of that release with the same operation; if there is none, use another
    operation or a newer release. This rule runs only with --target.
    """
    for layers in targeted.graph.kinds.values():
        first = first_with_operation(layers[0])
        if first and is_before(targeted.release, first):
            layer_type, release = layers[0].type, targeted.release
            message = f"{layer_type} of {layers[0].version} came with OpenVINO {first}; {release} refuses the model"
            for layer in layers:
                yield Violation.at(layer, message, _advice(layer, release))


@rule("OVG709", Targeted)
def element_type_of_later_release(targeted: Targeted) -> Iterator[Violation]:
    """The release given by --target cannot read the element type of a Parameter or Const.

    That release refuses the model. Use another type. This rule runs only with --target.
    """
    for layer in targeted.graph.leaves:
        name = layer.attributes.get("element_type", "")
        first = first_with_element_type(name)
        if is_before(targeted.release, first):
            message = f"element_type {name} can be read since OpenVINO {first}; {targeted.release} refuses the model"
            hint = "write dynamic, which is the same" if name.lower() == "undefined" else "use another type"
            yield Violation.at(layer, message, hint, line=layer.data_line)


def _advice(layer: Layer, release: str) -> str:
    layer_type = in_any_case()[layer.type.lower()]
    there = opsets_with(layer_type, release)
    version = opsets_of(layer_type)[str(layer.version)]
    if version in there:
        return f"write version='{version}', which is the same operation"
    if not there:
        return f"{release} has no {layer_type}"
    newest = max(there, key=lambda opset: int(opset.removeprefix("opset")))
    return f"{release} has the {layer_type} of {newest}, which is another version"

"""1xx: the types and opsets that layers name."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.model import Layer, Model
from ov_gather.ops import find_operation, versions_of
from ov_gather.rules.base import Violation, graph_rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.opsets import in_any_case, operations
from ov_gather.rules.spelling import closest

# Types that OpenVINO finds under these names without any extension, as old converters wrote them.
_PSEUDO_OPSETS = ("extension", "experimental")
_IN_PSEUDO_OPSETS = ("ExperimentalDetectron", "GRUCell", "RNNCell", "Proposal")


@graph_rule("OVG105")
def version_without_operation(graph: Model) -> Iterator[Violation]:
    """The opset that a layer names does not hold its type, or there is no such opset. OpenVINO refuses the model."""
    for layer in _not_in_opsets(graph):
        if layer.type in operations() and _names_opset(layer):
            known = ", ".join(f"{it.found_in} ({it.name})" for it in versions_of(layer.type))
            yield Violation(
                f"version='{layer.version}' does not hold {layer.type}",
                f"{layer.type} is found in {known or _first_to_last(layer.type)}",
                layer.line,
                layer,
            )


@graph_rule("OVG106")
def misspelt_type(graph: Model) -> Iterator[Violation]:
    """No opset holds the type that a layer names, but one that is spelt nearly so. OpenVINO refuses the model.

    "Constant", the name of the class behind Const, it reads without its payload, and crashes later.
    """
    for layer in _not_in_opsets(graph):
        meant = _meant(layer.type)
        if meant and _names_opset(layer) and layer.type not in operations() and not _differs_in_case(layer.type):
            yield Violation(f"no opset of OpenVINO holds {layer.type}", f"did you mean {meant}?", layer.line, layer)


@graph_rule("OVG107", Severity.NOTE)
def needs_extension(graph: Model) -> Iterator[Violation]:
    """No opset of OpenVINO holds what a layer names: the model can be read only with an extension that adds the operation."""
    for layer in _not_in_opsets(graph):
        pseudo = layer.version in _PSEUDO_OPSETS and layer.type.startswith(_IN_PSEUDO_OPSETS)
        if not pseudo and not (_names_opset(layer) and _meant(layer.type)):
            yield Violation(
                f"{layer.type} of version '{layer.version}' is in no opset of OpenVINO",
                "reading the model needs an extension that adds it",
                layer.line,
                layer,
            )


@graph_rule("OVG108", Severity.WARNING)
def case_of_type(graph: Model) -> Iterator[Violation]:
    """The type of a layer is written in another case than OpenVINO writes it. OpenVINO reads it, other tools do not."""
    for layer in _not_in_opsets(graph):
        if _names_opset(layer) and _differs_in_case(layer.type):
            yield Violation(f"the type is written {layer.type}", f"write {_meant(layer.type)}", layer.line, layer)


@graph_rule("OVG109")
def missing_version(graph: Model) -> Iterator[Violation]:
    """A layer does not name the opset of its operation. OpenVINO refuses the model; only a fragment may leave it out."""
    if graph.is_fragment:
        return
    for (layer_type, version), layers in graph.kinds.items():
        for layer in layers if version is None else ():
            found = f"{layer_type} is found in {_first_to_last(layer_type)}" if layer_type in operations() else ""
            yield Violation("version is missing", found or "name the opset that holds the operation", layer.line, layer)


def _not_in_opsets(graph: Model) -> Iterator[Layer]:
    """The layers that name what no opset of OpenVINO holds, nor one of ours."""
    for (layer_type, version), layers in graph.kinds.items():
        if version is not None and version not in operations().get(layer_type, {}) and not find_operation(layers[0]):
            yield from layers


def _names_opset(layer: Layer) -> bool:
    """Whether the version means an opset of OpenVINO, if only a misspelt one, and not that of an extension."""
    return (layer.version or "").strip().lower().startswith("ops")


def _meant(layer_type: str) -> str | None:
    """The type that OpenVINO has under this name or a similar one."""
    return "Const" if layer_type.lower() == "constant" else closest(layer_type, operations())


def _differs_in_case(layer_type: str) -> bool:
    """In no other way; OpenVINO reads types in any case, but for Const."""
    meant = in_any_case().get(layer_type.lower())
    return meant not in (None, layer_type, "Const")


def _first_to_last(layer_type: str) -> str:
    numbers = sorted(int(opset.removeprefix("opset")) for opset in operations()[layer_type])
    return f"opset{numbers[0]} to opset{numbers[-1]}" if len(numbers) > 1 else f"opset{numbers[0]}"

"""1xx: the types and opsets that layers name."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.model import Layer, Model
from ov_gather.ops import find_operation, versions_of
from ov_gather.ops.index_table import OUR_INDICES
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.fixes import Fix, SetAttribute
from ov_gather.rules.opset_table import IN_PSEUDO_OPSETS, PSEUDO_OPSETS
from ov_gather.rules.opsets import in_any_case, operations
from ov_gather.rules.spelling import closest

_OF_THE_INTERFACE = where(OPENVINO, lambda op: op.kind in (OpKind.END, OpKind.STATE))
"""Types by which OpenVINO orders inputs, and finds outputs and states; it requires this exact spelling."""


@rule("OVG105", Model)
def version_without_operation(graph: Model) -> Iterator[Violation]:
    """The opset that a layer names as its version does not exist, or does not contain the type of the layer.

    OpenVINO refuses the model. Name an opset that contains the intended version of the operation.
    """
    for layer in _not_in_opsets(graph):
        if layer.type in operations() and _names_opset(layer):
            known = ", ".join(f"{operation.found_in} ({operation.name})" for operation in versions_of(layer.type))
            hint = f"{layer.type} is found in {known or _first_to_last(layer.type)}"
            yield Violation.at(layer, f"version='{layer.version}' does not hold {layer.type}", hint)


@rule("OVG106", Model)
def misspelt_type(graph: Model) -> Iterator[Violation]:
    """The type of a layer is in no opset of OpenVINO, but is spelt almost like one that is.

    OpenVINO refuses the model. An exception is "Constant", the class name of Const: OpenVINO reads it without the payload, and
    crashes later. Correct the type.
    """
    for layer in _not_in_opsets(graph):
        meant = _meant(layer.type)
        if meant and _names_opset(layer) and layer.type not in operations() and not _differs_in_case(layer.type):
            yield Violation.at(layer, f"no opset of OpenVINO holds {layer.type}", f"did you mean {meant}?")


@rule("OVG107", Model, Severity.NOTE)
def needs_extension(graph: Model) -> Iterator[Violation]:
    """The operation of a layer is in no opset of OpenVINO.

    OpenVINO reads the model only after core.add_extension has loaded an extension that adds the operation.
    """
    for layer in _not_in_opsets(graph):
        pseudo = layer.version in PSEUDO_OPSETS and layer.type.startswith(IN_PSEUDO_OPSETS)
        if not pseudo and not (_names_opset(layer) and _meant(layer.type)):
            message = f"{layer.type} of version '{layer.version}' is in no opset of OpenVINO"
            yield Violation.at(layer, message, "reading the model needs an extension that adds it")


@rule("OVG108", Model, Severity.WARNING)
def case_of_type(graph: Model) -> Iterator[Violation]:
    """The type of a layer differs from that of an operation only in upper and lower case.

    OpenVINO reads the layer, but other tools do not. Write the type as OpenVINO does.
    """
    for layer in _not_in_opsets(graph):
        if _names_opset(layer) and _differs_in_case(layer.type):
            meant = in_any_case()[layer.type.lower()]
            fix = Fix(SetAttribute("layer", "type", meant), safe=meant not in _OF_THE_INTERFACE)
            yield Violation.at(layer, f"the type is written {layer.type}", f"write {meant}", fix=fix)


@rule("OVG109", Model, unless=lambda graph: graph.is_fragment)
def missing_version(graph: Model) -> Iterator[Violation]:
    """A layer has no attribute version, which names the opset of its operation.

    OpenVINO refuses the model. Only a bare <layer> fragment may omit the version.
    """
    for (layer_type, version), layers in graph.kinds.items():
        for layer in layers if version is None else ():
            found = f"{layer_type} is found in {_first_to_last(layer_type)}" if layer_type in operations() else ""
            yield Violation.at(layer, "version is missing", found or "name the opset that holds the operation")


def _not_in_opsets(graph: Model) -> Iterator[Layer]:
    """Yield the layers whose operation is in no opset of OpenVINO and not ours."""
    for (layer_type, version), layers in graph.kinds.items():
        is_ours = version == CUSTOM_OPSET and layer_type in OUR_INDICES
        if (
            version is not None
            and version not in operations().get(layer_type, {})
            and not is_ours
            and not find_operation(layers[0])
        ):
            yield from layers


def _names_opset(layer: Layer) -> bool:
    """Return True if the version denotes an opset of OpenVINO, possibly misspelt, rather than one of an extension."""
    return (layer.version or "").strip().lower().startswith("ops")


def _meant(layer_type: str) -> str | None:
    """Return the OpenVINO type with this name or a similar one."""
    return "Const" if layer_type.lower() == "constant" else closest(layer_type, operations())


def _differs_in_case(layer_type: str) -> bool:
    """Return True if the type differs from OpenVINO's only in case. OpenVINO ignores the case of types, except for Const."""
    meant = in_any_case().get(layer_type.lower())
    return meant not in (None, layer_type, "Const")


def _first_to_last(layer_type: str) -> str:
    numbers = sorted(int(opset.removeprefix("opset")) for opset in operations()[layer_type])
    return f"opset{numbers[0]} to opset{numbers[-1]}" if len(numbers) > 1 else f"opset{numbers[0]}"

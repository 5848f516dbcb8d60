"""2xx: the attributes of gather-family layers, against their operation's specification."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import Attribute
from ov_gather.rules.base import Violation, layer_rule

# OpenVINO's own writer may add these to any layer; they are hints to a plugin, not the operation's.
_OF_ANY_LAYER = frozenset({"PrimitivesPriority", "alt_width"})


@layer_rule("OVG201")
def missing_attribute(view: LayerView) -> Iterator[Violation]:
    """An attribute that the operation requires is missing. OpenVINO's reader silently takes a default."""
    for attribute in view.operation.attributes:
        if attribute.required and attribute.name not in view.layer.attributes:
            yield Violation(
                f"attribute {attribute.name} is missing",
                f'{view.operation.name} requires it: <data {attribute.name}="..." />; OpenVINO would take {attribute.default}',
                view.layer.data_line,
                view.layer,
            )


@layer_rule("OVG202")
def unknown_attribute(view: LayerView) -> Iterator[Violation]:
    """An attribute that the operation does not have. OpenVINO ignores it."""
    known = [attribute.name for attribute in view.operation.attributes]
    for name in view.layer.attributes:
        if name not in known and name not in _OF_ANY_LAYER:
            close = get_close_matches(name.lower(), known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"{view.operation.name} has {', '.join(known)}"
            yield Violation(f"unknown attribute {name}", hint, view.layer.data_line, view.layer)


@layer_rule("OVG203")
def malformed_attribute(view: LayerView) -> Iterator[Violation]:
    """The text of an attribute is not of its type. OpenVINO reads "1.7" and "1x" as 1, and takes the default for "yes"."""
    for attribute, text in _given(view):
        try:
            attribute.parse(text)
        except ValueError as error:
            yield Violation(f"{attribute.name}: {error}", f"write {attribute.form}", view.layer.data_line, view.layer)


@layer_rule("OVG204")
def attribute_out_of_range(view: LayerView) -> Iterator[Violation]:
    """The value of an attribute lies outside its range, e.g. an axis outside [-r, r-1] for data of rank r."""
    for attribute, text in _given(view):
        valid = attribute.valid_range(view.input_shapes)
        try:
            value = attribute.parse(text)
        except ValueError:
            continue
        if valid and not valid[0] <= value <= valid[1]:
            yield Violation(
                f"{attribute.name}={value} is out of range",
                f"for these inputs it may be {valid[0]} to {valid[1]}",
                view.layer.data_line,
                view.layer,
            )


def _given(view: LayerView) -> Iterator[tuple[Attribute, str]]:
    for attribute in view.operation.attributes:
        if attribute.name in view.layer.attributes:
            yield attribute, view.layer.attributes[attribute.name]

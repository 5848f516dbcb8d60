"""The oldest release of OpenVINO that can read a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ov_gather.ir.location import Location
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.reader import Source
from ov_gather.rules.releases import RELEASES, first_with_element_type, first_with_operation, is_before
from ov_gather.rules.validation import read_and_validate

_IN_THE_WAY = ("OVG0", "OVG105", "OVG106", "OVG109")
"""Rules that report why a file cannot be read, or that no release of OpenVINO has an operation."""


@dataclass(frozen=True, slots=True)
class OldestRelease:
    """The oldest of RELEASES that has every operation and element type of a file; "" if none does.

    `reason` is what earlier releases lack, or why there is no release; "" for the oldest of RELEASES. `place` is where the file
    needs it. `extension` is an operation that only an extension adds, or "".
    """

    release: str
    reason: str = ""
    place: Location | None = None
    extension: str = ""


def oldest_release(source: Source) -> OldestRelease:
    """Return the oldest of RELEASES that has every operation and element type of an IR.

    Args:
        source: what `read_ir` takes.
    """
    model, findings = read_and_validate(source, select=_IN_THE_WAY)
    for finding in findings:
        is_unread = finding.rule.startswith("OVG0") and finding.hint
        return OldestRelease("", f"{finding.message} ({finding.hint})" if is_unread else finding.message, finding.location)
    assert model is not None, "a file that was not read has a finding"
    result = OldestRelease(RELEASES[0])
    extension = ""
    for subgraph_path, graph in model.walk():
        for layer, release, name in _needs(graph):
            if release is None:
                extension = extension or name
            elif is_before(result.release, release):
                place = Location(model.path, layer.line, layer.id, layer.name, layer.type, None, subgraph_path)
                result = OldestRelease(release, f"{name} came with it", place)
    return OldestRelease(result.release, result.reason, result.place, extension)


def _needs(graph: Model) -> Iterator[tuple[Layer, str | None, str]]:
    """Yield what the layers of a graph need, each with the first release that has it; None if an extension must add it."""
    for (layer_type, version), layers in graph.kinds.items():
        if version is not None:
            yield layers[0], first_with_operation(layers[0]), f"{layer_type} of {version}"
    for layer in graph.leaves:
        name = layer.attributes.get("element_type", "")
        yield layer, first_with_element_type(name), f"element_type {name}"

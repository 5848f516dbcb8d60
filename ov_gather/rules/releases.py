"""First release of OpenVINO that has an operation, or that reads an element type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ov_gather.ir.model import Layer
from ov_gather.rules.opsets import in_any_case, opsets_of
from ov_gather.rules.release_table import TABLE

RELEASES = tuple(dict.fromkeys(line.split()[0] for line in TABLE.strip().splitlines()))
"""The releases in the table, oldest first."""


def release_named(text: str) -> str:
    """Return the release that "2025.4" or "2025.4.1" names. Raises ValueError if it is none of RELEASES; TypeError."""
    if not isinstance(text, str):
        raise TypeError(f"a release of OpenVINO is a text such as '{RELEASES[-1]}', not {text!r}")
    named = re.fullmatch(r"(\d+\.\d+)(\.\d+)?", text.strip())
    if named is None or named[1] not in RELEASES:
        raise ValueError(f"'{text}' is no release that ov-gather knows; there are {', '.join(RELEASES)}")
    return named[1]


def is_before(release: str, other: str) -> bool:
    """Return True if one of RELEASES is older than another."""
    return RELEASES.index(release) < RELEASES.index(other)


def is_newer_than_known(version: str) -> bool:
    """Return True if a version of OpenVINO, such as "2027.0.0", is newer than all of RELEASES; False if it is not a version."""
    numbers, newest = ([int(number) for number in re.findall(r"\d+", text)[:2]] for text in (version, RELEASES[-1]))
    return numbers > newest


def first_with_operation(layer: Layer) -> str | None:
    """Return the first release whose reader knows the operation of a layer; None if no opset of OpenVINO holds it."""
    layer_type = in_any_case().get(layer.type.lower(), layer.type)
    return _first_with(layer_type, layer.version) if layer.version in opsets_of(layer_type) else None


def opsets_with(layer_type: str, release: str) -> Mapping[str, str]:
    """Map the opsets in which a release has a layer type to the first opset with the same version of it."""
    known = opsets_of(layer_type)
    return {opset: first for opset, first in known.items() if not is_before(release, _first_with(layer_type, opset))}


def first_with_element_type(name: str) -> str:
    """Return the first release whose reader accepts a name in `element_type`."""
    return _news().get(("element_type", name.lower()), RELEASES[0])


def _first_with(layer_type: str, opset: str | None) -> str:
    news = _news()
    return news.get((str(opset), layer_type)) or news.get((str(opset), "*")) or RELEASES[0]


@cache
def _news() -> Mapping[tuple[str, str], str]:
    """Map each addition, (opset, layer type) or ("element_type", name), to its release."""
    rows = (line.split() for line in TABLE.strip().replace("\n    ", " ").splitlines())
    return {(kind, name): release for release, kind, *names in (row for row in rows if len(row) > 1) for name in names}

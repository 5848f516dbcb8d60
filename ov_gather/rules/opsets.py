"""Which opsets of OpenVINO hold an operation, and the kinds of its attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from ov_gather.ir.element_types import by_name
from ov_gather.ir.model import Layer
from ov_gather.ir.shapes import BLANKS, PartialShape
from ov_gather.ops.attribute import BOOLEANS, FLOAT, parse_integer
from ov_gather.rules.opset_table import TABLE


@cache
def operations() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the attribute kinds by operation type, then opset, then attribute name."""
    table: dict[str, Mapping[str, Mapping[str, str]]] = {}
    for opsets, words in _rows():
        types = [word for word in words if ":" not in word]
        attributes = dict(word.split(":") for word in words if ":" in word)
        held = dict.fromkeys(opsets, attributes)
        table.update((layer_type, {**table[layer_type], **held} if layer_type in table else held) for layer_type in types)
    return table


def opsets_of(layer_type: str) -> Mapping[str, str]:
    """Map the opsets that hold a layer type to the first opset with the same version of it."""
    return {opset: opsets[0] for opsets, words in _rows() if layer_type in words for opset in opsets}


@cache
def in_any_case() -> Mapping[str, str]:
    """Map the lower-case name of each operation type to the type."""
    return {layer_type.lower(): layer_type for layer_type in operations()}


def attribute_kinds(layer: Layer) -> Mapping[str, str] | None:
    """Return the attributes of a layer's operation with their kinds; None if no opset of OpenVINO holds it."""
    return operations().get(layer.type, {}).get(layer.version or "")


@lru_cache(maxsize=4096)
def is_of_kind(text: str, kind: str) -> bool:
    """Return True if the text of an attribute is a value of this kind, without surrounding blanks."""
    if kind in ("ints", "floats"):
        return not text or all(is_of_kind(part.strip(BLANKS), kind[:-1]) for part in text.split(","))
    if kind not in _CHECKS:
        return text.lower() in kind.split("|")
    try:
        return _CHECKS[kind](text)
    except ValueError:
        return False


@cache
def _rows() -> list[tuple[list[str], list[str]]]:
    """Parse the table: for each row its opsets, and its other words."""
    rows = (row.split() for row in TABLE.strip().replace("\n    ", " ").split("\n"))
    return [(_opsets(opsets), words) for opsets, *words in rows]


@cache  # a process that validates one file waits for this, and most rows are of the same opsets
def _opsets(text: str) -> list[str]:
    """Expand the opsets of a row: "1,3-16" is opset1, and opset3 to opset16."""
    pairs = (part.partition("-") for part in text.split(","))
    return [f"opset{number}" for first, _, last in pairs for number in range(int(first), int(last or first) + 1)]


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "text": lambda text: True,
    "str": lambda text: True,
    "int": lambda text: parse_integer(text) is not None,
    "float": lambda text: FLOAT.fullmatch(text) is not None,
    "bool": lambda text: text.lower() in BOOLEANS,
    "type": lambda text: by_name(text) is not None,
    "shape": lambda text: PartialShape.parse(text) is not None,
}

"""Normalized attributes of layers, without those that do not affect what the layer computes."""

from __future__ import annotations

from functools import lru_cache

from ov_gather.ir.model import Layer

VARIABLE = "variable_id"
"""Attribute that names the state of a ReadValue or Assign; the name itself does not matter."""

_DECLARED = ("shape", "element_type", "offset", "size")


def meaning(layer: Layer) -> dict[str, str]:
    """Return the attributes that affect what a layer computes, normalized.

    Left out are a Parameter's or Const's declared type and shape, which its output port repeats, and the place of the payload.
    """
    left_out = _DECLARED if layer.is_leaf else (VARIABLE,)
    return {name: normal(value) for name, value in layer.attributes.items() if name not in left_out}


def normal(text: str) -> str:
    """Normalize the value of an attribute: "1, 2" to "1,2", "1.0" to "1", "True" to "true"."""
    return _known_normal(text) if len(text) < 200 else _normal(text)


def _normal(text: str) -> str:
    return ",".join(_normal_item(item.strip()) for item in text.split(","))


_known_normal = lru_cache(maxsize=4096)(_normal)


def _normal_item(item: str) -> str:
    if item.lower() in ("true", "false"):
        return item.lower()
    try:
        number = float(item)
    except ValueError:
        return item
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return repr(number) if "." in item or "e" in item.lower() else item

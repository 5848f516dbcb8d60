"""The attributes of a layer are written here in one way, without those that say nothing of what the layer computes."""

from __future__ import annotations

from functools import lru_cache

from ov_gather.ir.model import Layer

VARIABLE = "variable_id"
"""This attribute names the state that a ReadValue reads and an Assign writes; any name serves."""

_DECLARED = ("shape", "element_type", "offset", "size")


def meaning(layer: Layer) -> dict[str, str]:
    """Give the attributes of a layer that mean something, each written in one way.

    What a Parameter or Const declares is told by its output port, and where a payload lies in the .bin is no matter.
    """
    left_out = _DECLARED if layer.type in ("Parameter", "Const") else (VARIABLE,)
    return {name: normal(value) for name, value in layer.attributes.items() if name not in left_out}


def normal(text: str) -> str:
    """Write the value of an attribute in one way: "1, 2" as "1,2", "1.0" as "1", "True" as "true"."""
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

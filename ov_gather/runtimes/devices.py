"""Device names of OpenVINO, such as "HETERO:GPU,CPU"."""

from __future__ import annotations

import re

CPU = "CPU"
"""The default device."""
_CHOOSING = ("AUTO", "MULTI", "HETERO", "BATCH")
"""Virtual devices, which dispatch to others."""


def leading(device: str) -> tuple[str, ...]:
    """Return the devices that a name dispatches to: CPU for "BATCH:CPU(4)", and for "AUTO" alone, which may choose any."""
    return tuple(name.partition(".")[0] for name in _named(device)) or (CPU,)


def involved(device: str, executing: tuple[str, ...]) -> tuple[str, ...]:
    """Return the devices whose divergences may show: the requested one, such as BATCH, and those that execute for it."""
    return tuple(dict.fromkeys((device.partition(":")[0].partition(".")[0], *executing)))


def require_device(device: str) -> None:
    """Raise ValueError if OpenVINO lacks a device that a name dispatches to. The CPU always exists."""
    wanted = [name for name in _named(device) if name != CPU]
    if not wanted and device:
        return
    import openvino

    there = openvino.Core().available_devices
    for name in wanted or [device]:
        if name not in there and not any(other.startswith(f"{name}.") for other in there):
            others = f"{', '.join(there)}, and {', '.join(_CHOOSING)} of them"
            raise ValueError(f"OpenVINO has no device '{name}' here; there are {others}")


def _named(device: str) -> list[str]:
    """Return the devices in a name, without virtual devices and text in parentheses."""
    kind, _, others = device.partition(":")
    names = others if kind in _CHOOSING else device
    return [name for name in re.sub(r"\([^)]*\)", "", names).replace(" ", "").split(",") if name]

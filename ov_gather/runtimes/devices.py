"""This module tells which devices of OpenVINO a name such as "HETERO:GPU,CPU" means, and whether there are such."""

from __future__ import annotations

import re

CPU = "CPU"
"""The device on which OpenVINO executes unless another is named."""
_CHOOSING = ("AUTO", "MULTI", "HETERO", "BATCH")
"""Devices that let others execute."""


def leading(device: str) -> tuple[str, ...]:
    """Return the devices that a name leads to: for "BATCH:CPU(4)" the CPU. For "AUTO" alone, which may choose any, the CPU."""
    return tuple(name.partition(".")[0] for name in _named(device)) or (CPU,)


def involved(device: str, executing: tuple[str, ...]) -> tuple[str, ...]:
    """Return the devices whose divergences may show: the one that was asked, as BATCH, and those that execute for it."""
    return tuple(dict.fromkeys((device.partition(":")[0].partition(".")[0], *executing)))


def require_device(device: str) -> None:
    """Raise ValueError where OpenVINO does not have a device that a name leads to; the CPU is always there."""
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
    """Return the devices in a name, without those that let others execute, and without what is in parentheses."""
    kind, _, others = device.partition(":")
    names = others if kind in _CHOOSING else device
    return [name for name in re.sub(r"\([^)]*\)", "", names).replace(" ", "").split(",") if name]

"""This module tells which runtimes a command asks."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ov_gather.cli.output import warn
from ov_gather.extension import extension_path
from ov_gather.extras import require
from ov_gather.runtimes.isolated import RUNTIMES


def available_runtimes() -> tuple[str, ...]:
    """Return those that are installed. That the extension cannot be compiled is said; onnxruntime is optional.

    Raises ImportError where OpenVINO is not installed, which is what everything is compared with.
    """
    require("openvino")
    absent = set() if find_spec("onnxruntime") and find_spec("onnx") else {"onnxruntime"}
    try:
        extension_path()
    except (ImportError, OSError) as reason:
        warn(reason)
        absent.add("extension")
    return tuple(name for name in RUNTIMES if name not in absent)


def parse_runtimes(context: click.Context, option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Return the value of --runtimes: names with commas between; all that are installed, if it is not given."""
    if text is None:
        return available_runtimes()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in RUNTIMES:
            raise click.BadParameter(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    return names

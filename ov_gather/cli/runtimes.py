"""Choice of runtimes on the command line."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ov_gather.cli.output import warn
from ov_gather.extension import extension_path
from ov_gather.runtimes.isolated import RUNTIMES
from ov_gather.system.extras import require


def available_runtimes() -> tuple[str, ...]:
    """Return the installed runtimes. Warn if the extension cannot be compiled; onnxruntime is optional.

    Raises ImportError if OpenVINO, the runtime under test, is not installed.
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
    """Parse the value of --runtimes, separated by commas; all installed runtimes if it is not given."""
    if text is None:
        return available_runtimes()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in RUNTIMES:
            raise click.BadParameter(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    return names

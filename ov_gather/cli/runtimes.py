"""The runtimes that our kernel is compared with."""

from __future__ import annotations

import click

from ov_gather.comparison import RUNTIMES
from ov_gather.extension import extension_path


def available_runtimes() -> tuple[str, ...]:
    """All, or all but the extension where that could not be compiled, which is then said."""
    try:
        extension_path()
    except FileNotFoundError as reason:
        click.echo(f"warning: {reason}", err=True)
        return tuple(name for name in RUNTIMES if name != "extension")
    return RUNTIMES

"""The command `ov-gather extension-path`: print the path of the compiled OpenVINO extension."""

from __future__ import annotations

import click

from ov_gather.cli.output import say
from ov_gather.extension import extension_path


@click.command(name="extension-path")
def command() -> None:
    """Print the path of the OpenVINO extension; compile it first if there is none.

    \b
    ovc model.onnx --extension $(ov-gather extension-path)
    benchmark_app -m model.xml -extensions $(ov-gather extension-path)

    Exit code: 0 done, 2 failed.
    """
    say(extension_path())

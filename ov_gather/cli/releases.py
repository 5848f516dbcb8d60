"""Parsing of OpenVINO releases on the command line."""

from __future__ import annotations

import click


def parse_release(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Return the value of --target or --target-release as a known release; None if it is not given."""
    from ov_gather.rules.releases import release_named

    try:
        return None if text is None else release_named(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None

"""The option --assume: bounds that a user assumes for inputs and open dimensions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import click

Limits = tuple[int | float | None, int | float | None]
Command = TypeVar("Command", bound=Callable[..., object])

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_TEXT = re.compile(rf"(?P<name>.+)=(?P<low>{_NUMBER})?\.\.(?P<high>{_NUMBER})?", re.DOTALL)


def assume_option(command: Command) -> Command:
    """Add the option --assume to a command. The parameter `assume` has the form that `ov_gather.prove` accepts."""
    option = click.option(
        "--assume",
        multiple=True,
        metavar="NAME=LO..HI",
        callback=lambda context, option, texts: parsed(texts),
        help='Assume that an input, or an open dimension such as "dim(x, 1)", is within these bounds. '
        "LO or HI may be left out. May be repeated.",
    )
    return option(command)


def parsed(texts: tuple[str, ...]) -> dict[str, Limits]:
    """Parse the values of the option. Raises UsageError."""
    found: dict[str, Limits] = {}
    for text in texts:
        match = _TEXT.fullmatch(text)
        if match is None:
            raise click.UsageError(f"--assume {text}: give NAME=LO..HI, for example input_ids=0..999")
        if match["name"] in found:
            raise click.UsageError(f"--assume {text}: {match['name']} is given twice")
        found[match["name"]] = (_number(match["low"]), _number(match["high"]))
    return found


def _number(text: str | None) -> int | float | None:
    if text is None:
        return None
    return float(text) if set(text) & set(".eE") else int(text)

"""This module tells which files a command line names, and which it writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import click

from ov_gather.ir import files
from ov_gather.ir.files import Found, NoIRError, Place
from ov_gather.ir.urls import TIMEOUT, Url, is_url

_TIMEOUT = "ov_gather.timeout"


def _keep_timeout(context: click.Context, option: click.Parameter, seconds: float) -> None:
    context.meta[_TIMEOUT] = seconds


TIMEOUT_OF_SERVERS = click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=3600),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    is_eager=True,  # so that it is known when URLs are parsed
    expose_value=False,
    callback=_keep_timeout,
    help="The longest that a server may take for an answer, and for each 4 MiB of a file at a URL.",
)


class PathOrUrl(click.Path):
    """A parameter that is a path, or the URL of something that fsspec reads."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """Return a Path or a Url. What is at a URL is looked for later."""
        if isinstance(value, str) and is_url(value):
            return Url(value, timeout=(context.meta if context else {}).get(_TIMEOUT, TIMEOUT))
        return super().convert(value, param, context)


def find_irs(paths: Iterable[Place], *, exclude: Collection[str] = (), skip_other_xml: bool = False) -> Found:
    """Return the same as `ov_gather.ir.files.find_irs`, but a command line that names no IR is a UsageError."""
    try:
        return files.find_irs(paths, exclude=exclude, skip_other_xml=skip_other_xml)
    except NoIRError as error:
        raise click.UsageError(str(error)) from None


def refuse_existing(paths: Iterable[Path], force: bool) -> None:
    """Raise UsageError where a file to write exists, unless it may be overwritten."""
    for path in paths:
        if path.exists() and not force:
            raise click.UsageError(f"{path} exists; --force overwrites it")


def opened(output: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    """Return a file that takes its place when all went well, if there is one to write."""
    if output is None:
        return nullcontext()
    from ov_gather.files import replacing

    return replacing(output)

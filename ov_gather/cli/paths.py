"""Paths on the command line: files of one kind, glob patterns, URLs, and the default names of outputs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from glob import escape, glob, has_magic
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import click

from ov_gather.ir.urls import TIMEOUT, url_of
from ov_gather.system.kinds import Kind, kind_of
from ov_gather.system.suggestions import did_you_mean

Command = TypeVar("Command", bound=Callable[..., Any])

_SEPARATORS = f"[{re.escape(os.sep)}/]"
_ANY_DIRECTORIES = re.compile(rf"(?:(?<={_SEPARATORS})|^)\*\*(?:{_SEPARATORS}|$)")
"""The component "**" of a glob pattern."""

TIMEOUT_KEY = "ov_gather.timeout"
"""Where the value of --timeout is kept in the context until URLs are parsed."""


class FileOf(click.Path):
    """A parameter that is a file of one of these kinds, or a directory if `dir_okay`.

    A file of unknown suffix is left to those that read it.
    """

    def __init__(self, *kinds: Kind, dir_okay: bool = False) -> None:
        super().__init__(exists=True, dir_okay=dir_okay, path_type=Path)
        self.kinds = kinds

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the path. Raises ValueError for a file of another kind, and names the command that takes it."""
        path: Any = super().convert(value, param, context)
        if path.is_dir():
            return path
        kind = kind_of(path)
        wanted = " or ".join(f"{kind.name} ({kind.suffixes[0]})" for kind in self.kinds)
        command = f"`{context.command_path}`" if context else "this command"
        if kind is not None and kind not in self.kinds:
            raise ValueError(f"{path}: this is {kind.name}; {command} takes {wanted}; {kind.advice}")
        if path.is_file() and not path.stat().st_size:
            raise ValueError(f"{path}: the file is empty; {command} takes {wanted}")
        return path


class PathOrUrl(click.Path):
    """A parameter that is a path, or a URL that fsspec can read."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """Return a Path or a Url. A URL is not opened here."""
        if url := url_of(value):
            return replace(url, timeout=(context.meta if context else {}).get(TIMEOUT_KEY, TIMEOUT))
        if str(value).startswith("-") and value != "-" and not Path(value).exists():
            self.fail(f"Path '{value}' does not exist; what follows '--' are paths, options stand before it", param, context)
        return super().convert(value, param, context)


class PathsArgument(click.Argument):
    """An argument of one path or more, each once; a glob pattern in quotes stands for the files that match it, sorted."""

    def type_cast_value(self, context: click.Context, value: Any) -> Any:
        """Return the paths, as the type of the argument makes them; none for completion, which must not search."""
        if context.resilient_parsing:
            return ()
        texts = chain.from_iterable(self._matches(context, text) for text in value or ())
        return tuple(dict.fromkeys(super().type_cast_value(context, tuple(texts))))

    def _matches(self, context: click.Context, text: str) -> list[str]:
        if url_of(text) or not has_magic(text) or Path(text).exists():
            return [text]
        found = sorted(set(_matching(text)))
        if not found:
            raise click.BadParameter(f"no file matches {text}", context, self)
        return [os.path.abspath(name) if name == "-" else name for name in found]  # noqa: PTH100 - "-" is standard input


def _matching(pattern: str) -> Iterator[str]:
    """Yield the files that match a glob pattern. "**" follows no links, since they may lead in circles.

    Raises OSError for a directory that "**" cannot search.
    """
    top, *rest = _ANY_DIRECTORIES.split(pattern, maxsplit=1)
    if not rest:
        yield from glob(pattern)  # noqa: PTH207 - Path.glob takes no absolute patterns
        return
    for start in glob(top) if top else (".",):  # noqa: PTH207
        for here, directories, _ in os.walk(start, onerror=_raise):
            directories[:] = (name for name in directories if not name.startswith("."))
            yield from _matching(os.path.join(escape("" if here == "." else here), rest[0] or "*"))  # noqa: PTH118


def _raise(error: OSError) -> None:
    raise error


def paths_argument(name: str, kind: click.Path, metavar: str) -> Callable[[Command], Command]:
    """Return a decorator of a command that adds a `PathsArgument`."""
    return click.argument(name, cls=PathsArgument, nargs=-1, required=True, metavar=metavar, type=kind)


class OneOf(click.Choice[str]):
    """A parameter that is one of many names; the error for another one suggests the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> str:
        """Return the name."""
        if value not in self.choices:
            self.fail(f"there is no '{value}'; {did_you_mean(str(value), self.choices)}", param, context)
        return str(value)


def beside(source: Path, ending: str) -> Path:
    """Return the default output for an input, e.g. model.fast.xml for model.onnx and ".fast.xml"."""
    return source.with_name(source.stem + ending)

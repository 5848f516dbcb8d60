"""Reference of the command line: a page for each command, made from click."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from ov_gather.cli import group
from tools.docs_site.markdown import Pages, escaped, fenced, page, table

FOLDER = "reference/commands"


def pages() -> Pages:
    """Return the page of each command, and their list."""
    with click.Context(group, info_name="ov-gather") as context:
        commands = {name: command for name in group.list_commands(context) if (command := group.get_command(context, name))}
        summaries = {name: escaped(command.get_short_help_str(200)) for name, command in commands.items()}
        rows = [(f"[`ov-gather {name}`]({name}.md)", summary) for name, summary in summaries.items()]
        options = "\n".join(_options(group, context))
        index = page("# Commands", "", *table(["command", ""], rows), "", "## Options of `ov-gather`", "", options)
        made = {f"{FOLDER}/{name}.md": page(*_command(command, context, name, 1)) for name, command in commands.items()}
    return {f"{FOLDER}/README.md": index, **made}


def _command(command: click.Command, parent: click.Context, name: str, level: int) -> Iterator[str]:
    """Yield the documentation of a command, and that of its own commands below it."""
    with click.Context(command, parent=parent, info_name=name) as context:
        yield from (f"{'#' * level} `{context.command_path}`", "")
        yield from fenced([command.get_usage(context).removeprefix("Usage: ")])
        yield from ("", *_prose(command.help or ""), f"{'#' * (level + 1)} Options", "", *_options(command, context), "")
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                if found := command.get_command(context, below):
                    yield from _command(found, context, below, level + 1)


def _prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; those that click does not wrap, and examples, are code."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        kept, lines = paragraph.startswith("\b\n"), paragraph.removeprefix("\b\n").splitlines()
        if kept or all(line.startswith("ov-gather ") for line in lines):
            yield from fenced(lines, "sh")
        else:
            yield from map(escaped, lines)
        yield ""


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield a list of the options of a command."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and isinstance(parameter, click.Option):
            yield f"- `{record[0]}`: {escaped(record[1])}"

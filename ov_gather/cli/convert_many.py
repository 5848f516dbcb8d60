"""How `ov-gather convert` converts several models: in several processes, or on a cluster, each as the command alone does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any

import click
from click.core import ParameterSource

from ov_gather.cli.files import check_outputs
from ov_gather.cli.output import say, show, with_progress

_OWN = ("models", "output", "jobs", "scheduler")
"""Parameters that are not for a single model, or differ from model to model."""

_ONE_AT_A_TIME = Lock()
"""The threads of a worker of a cluster have one stdout."""

Item = tuple[Path, Path]
"""A model, and the file to write."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ended for one model, and what it printed."""

    code: int
    output: str
    errors: str


def convert_many(models: Sequence[Path], directory: Path, suffix: str, jobs: int, scheduler: str | None) -> int:
    """Convert models into a directory, print what is printed of each when it is done, and return the worst exit code.

    Raises UsageError where two models would have one name, or a file to write exists.
    """
    outputs = [directory / f"{model.stem}{suffix}" for model in models]
    for output, times in Counter(outputs).items():
        if times > 1:
            alike = ", ".join(str(model) for model, other in zip(models, outputs, strict=True) if other == output)
            raise click.UsageError(f"{output} would be written for each of {alike}: give them different names")
    context = click.get_current_context()
    if directory.exists():  # else there is nothing that could be overwritten
        check_outputs([file for output in outputs for file in written_files(output)], models, force=context.params["force"])
    directory.mkdir(parents=True, exist_ok=True)
    items = [(model.absolute(), output.absolute()) for model, output in zip(models, outputs, strict=True)]
    worst = 0
    for index, ended in with_progress(_run(items, _options(context), jobs, scheduler), len(items), "converting"):
        say(f"== {models[index]}")
        show(ended.output)
        show(ended.errors, err=True)
        worst = max(worst, ended.code)
    return worst


def written_files(output: Path) -> list[Path]:
    """Return the files of a converted model: an IR has its .bin, and legalized ONNX perhaps data beside it."""
    return [output, output.with_name(f"{output.name}.data") if output.suffix == ".onnx" else output.with_suffix(".bin")]


def _run(items: Sequence[Item], options: Sequence[str], jobs: int, scheduler: str | None) -> Iterator[tuple[int, Ended]]:
    """Yield the index of each model with how it ended, in the order in which they are done."""
    from ov_gather.cli.processes import Died, in_processes

    function = partial(convert_alone, options=options)
    if scheduler:
        from ov_gather.cli.cluster import in_cluster

        results = in_cluster(function, items, scheduler)
    else:
        results = in_processes(function, items, jobs)
    for index, result in results:
        if isinstance(result, Died):
            result = Ended(2, "", f"error: {items[index][0]}: the process that converted it {result}\n")
        yield index, result


def convert_alone(item: Item, options: Sequence[str]) -> Ended:
    """Run the command for one model, in this process."""
    from ov_gather.cli import run_command

    model, output = item
    printed, errors = StringIO(), StringIO()
    code: Any = 0
    with _ONE_AT_A_TIME, redirect_stdout(printed), redirect_stderr(errors):
        try:
            run_command(["convert", str(model), "-o", str(output), *options])
        except SystemExit as end:
            code = end.code
    return Ended(int(code or 0), printed.getvalue(), errors.getvalue())


def _options(context: click.Context) -> list[str]:
    """Return the options of this call that hold for each model."""
    options = []
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params[str(parameter.name)]
        if name not in _OWN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            options += [parameter.opts[-1]] if value is True else [parameter.opts[-1], str(value)]
    return options

"""Conversion of several models, each as by a command of its own, in parallel or on a cluster; and the names of outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any

import click

from ov_gather.cli.files import check_outputs
from ov_gather.cli.options import given_besides
from ov_gather.cli.output import COLOR, QUIET, VERBOSE, show, tell, with_progress
from ov_gather.cli.paths import beside
from ov_gather.workers import each

_OWN = ("models", "output", "jobs", "scheduler")
"""Parameters that are not passed on to the conversion of a single model."""

_ONE_AT_A_TIME = Lock()
"""Serializes conversions on the threads of a cluster worker, which share one stdout."""

Item = tuple[Path, Path]
"""A model, and the output path."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Exit code and output of the command for one model."""

    code: int
    output: str
    errors: str


def outputs_for(models: Sequence[Path], output: Path | None, ending: str) -> list[Path]:
    """Return the output for each model: `output` itself, or in that directory; by default beside the model, with this ending.

    Raises UsageError if `output` has another suffix, or two models have the same output.
    """
    suffix = Path(f"model{ending}").suffix
    if output is None:
        outputs = [beside(model, ending) for model in models]
    elif output.suffix != suffix and (len(models) > 1 or output.is_dir()):
        outputs = [output / f"{model.stem}{suffix}" for model in models]
    elif len(models) > 1:
        raise click.UsageError(f"--output {output}: several models need a directory")
    elif output.suffix != suffix:
        raise click.UsageError(f"--output {output}: the name of the output ends in {suffix}")
    else:
        outputs = [output]
    for path, times in Counter(outputs).items():
        if times > 1:
            alike = ", ".join(str(model) for model, other in zip(models, outputs, strict=True) if other == path)
            raise click.UsageError(f"{path} would be written for each of {alike}: give them different names")
    return outputs


def convert_many(command: str, models: Sequence[Path], outputs: Sequence[Path], jobs: int, scheduler: str | None) -> int:
    """Run a command for each model, print what it prints as it completes, and return the highest exit code.

    Raises FileProblem if an output exists.
    """
    context = click.get_current_context()
    there = [output for output in outputs if output.parent.exists()]  # a new directory has no files to overwrite
    check_outputs([file for output in there for file in written_files(output)], models, force=context.params["force"])
    for output in outputs:
        output.parent.mkdir(parents=True, exist_ok=True)
    items = [(model.absolute(), output.absolute()) for model, output in zip(models, outputs, strict=True)]
    function = partial(convert_alone, command=command, options=_given_options(context))

    def died(index: int, how: str) -> Ended:
        return Ended(2, "", f"error: {items[index][0]}: the process that converted it {how}\n")

    worst = 0
    results = each(function, items, died, processes=jobs, scheduler=scheduler)
    for index, ended in with_progress(results, len(items), "converting"):
        tell(f"== {models[index]}")
        show(ended.output)
        show(ended.errors, err=True)
        worst = max(worst, ended.code)
    return worst


def written_files(output: Path) -> list[Path]:
    """Return the files of a conversion: an IR with its .bin, or legalized ONNX with its possible external data."""
    return [output, output.with_name(f"{output.name}.data") if output.suffix == ".onnx" else output.with_suffix(".bin")]


def convert_alone(item: Item, command: str, options: Sequence[str]) -> Ended:
    """Run the command for one model, in this process."""
    from ov_gather.cli import run_command

    model, output = item
    printed, errors = StringIO(), StringIO()
    code: Any = 0
    with _ONE_AT_A_TIME, redirect_stdout(printed), redirect_stderr(errors):
        try:
            run_command([command, str(model), "-o", str(output), *options])
        except SystemExit as end:
            code = end.code
    return Ended(int(code or 0), printed.getvalue(), errors.getvalue())


def _given_options(context: click.Context) -> list[str]:
    """Return the options of this command line that apply to every model."""
    options = [f"--{name}" for name in (QUIET, VERBOSE) if name in context.meta]
    options += [f"--{COLOR}={context.meta[COLOR]}"] if COLOR in context.meta else []
    for option in given_besides(_OWN):
        value = context.params[str(option.name)]
        if option.name == "extensions":
            options += [word for extension in value for word in (option.opts[-1], extension.name)]
        elif isinstance(value, dict):  # tolerances by output
            for output, bound in value.items():
                options += [option.opts[-1], f"{output}={bound}" if output else str(bound)]
        else:
            options += [option.opts[-1]] if value is True else [option.opts[-1], str(value)]
    return options

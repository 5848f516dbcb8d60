"""Options, and types of parameters, that several commands share."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ov_gather.cli.completion import complete_devices
from ov_gather.cli.files import reads
from ov_gather.cli.output import COLOR, QUIET, VERBOSE
from ov_gather.cli.paths import TIMEOUT_KEY
from ov_gather.ir.urls import TIMEOUT
from ov_gather.runtimes.devices import CPU
from ov_gather.system.platforms import core_count
from ov_gather.system.supervision import supervise

if TYPE_CHECKING:
    from ov_gather.extension.users import UserExtension

Limits = tuple[int | float | None, int | float | None]

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_TEXT = re.compile(rf"(?P<name>.+)=(?P<low>{_NUMBER})?\.\.(?P<high>{_NUMBER})?", re.DOTALL)

WRITTEN = click.Path(dir_okay=False, path_type=Path)
"""A file that a command writes."""
DIRECTORY = click.Path(file_okay=False, path_type=Path)

TIMEOUT_OF_SERVERS = click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=3600),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    is_eager=True,  # known before URLs are parsed
    expose_value=False,
    callback=lambda context, option, seconds: context.meta.update({TIMEOUT_KEY: seconds}),
    help="Longest wait for a server's answer, and for each 4 MiB of a file at a URL.",
)


class Jobs(click.IntRange):
    """A parameter that is a number of processes, or "auto"."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the number; "auto" is one for each CPU that this process may use."""
        if value == "auto":
            return core_count()
        if not str(value).isdecimal():
            self.fail(f"'{value}' is no number of processes; give {self.min} to {self.max}, or auto", param, context)
        return super().convert(value, param, context)


JOBS = click.option(
    "--jobs",
    type=Jobs(1, 1024),
    default=1,
    show_default=True,
    metavar="N|auto",
    help="Number of processes; auto: one for each CPU.",
)
FORCE = click.option("--force", is_flag=True, help="Overwrite existing files, but never one that is read.")
INPUTS = click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="Value of a non-constant input; repeat for each."
)
DEVICE = click.option(
    "--device",
    default=CPU,
    show_default=True,
    shell_complete=complete_devices,
    help="Device for OpenVINO: AUTO, HETERO:CPU, BATCH:CPU, GPU.",
)
THREADS = click.option(
    "--threads", type=click.IntRange(1, 1024), default=os.cpu_count() or 1, show_default=True, help="Threads in measurements."
)
TARGET = click.option(
    "--target",
    type=click.Choice(["stock", "extension"]),
    default="stock",
    show_default=True,
    help="stock: only OpenVINO's own operations; extension: gathers of ov-gather, which raise out of bounds and take strings.",
)
ASSUME_IN_BOUNDS = click.option("--assume-in-bounds", is_flag=True, help="Assume that no index of a gather is out of bounds.")
ASSUME = click.option(
    "--assume",
    multiple=True,
    metavar="NAME=LO..HI",
    callback=lambda context, option, texts: parsed(texts),
    help='Assume that an input, or an open dimension such as "dim(x, 1)", is within these bounds. '
    "LO or HI may be left out. May be repeated.",
)


def _load(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tuple[UserExtension, ...]:
    """Load extensions in a process of its own, before anything is written. Classes may be in the current directory."""
    if not names or context.resilient_parsing:
        return ()
    from ov_gather.extension.users import file_of, is_class, loaded

    here = os.getcwd()  # noqa: PTH109 - sys.path holds texts
    if any(map(is_class, names)) and here not in sys.path:
        sys.path.append(here)
    reads(*map(file_of, names))
    return loaded(names)


EXTENSION = click.option(
    "--extension",
    "extensions",
    multiple=True,
    metavar="LIB.so",
    callback=_load,
    help="Library with operations of yours that a model uses, or module:Class of an openvino.Op in Python. May be repeated.",
)


def _declare(context: click.Context, option: click.Parameter, files: tuple[Path, ...]) -> None:
    """Declare operations of installed packages, and those of files, in a process that is supervised."""
    if context.resilient_parsing:
        return
    from ov_gather.ops.users import are_installed, declare

    reads(*files)
    if files or are_installed():
        supervise()
    declare(*files)


OPS = click.option(
    "--ops",
    multiple=True,
    type=click.Path(path_type=Path),
    is_eager=True,  # other options may start threads, which a fork does not copy
    expose_value=False,
    callback=_declare,
    metavar="FILE.py",
    help="Python file that declares operations of yours. It is executed. May be repeated.",
)
SCHEDULER = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Run on a Dask cluster, e.g. tcp://10.0.0.5:8786; 'config' uses the scheduler-address in Dask's configuration.",
)


def with_common_options(command: click.Command) -> click.Command:
    """Add the options that all commands have; their values are kept in the context, for `ov_gather.cli.output`."""
    if not any(option.name == QUIET for option in command.params):
        command.params += [
            _kept("-q", QUIET, is_flag=True, help="Print only errors, and the results that were asked for."),
            _kept("-v", VERBOSE, is_flag=True, help="Print all details."),
            _kept("", COLOR, type=click.Choice(["auto", "always", "never"]), help="When to use colours; auto: on a terminal."),
        ]
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        with_common_options(each)
    return command


def _kept(short: str, name: str, **more: Any) -> click.Option:
    def keep(context: click.Context, option: click.Parameter, value: Any) -> None:
        if value:
            context.meta[name] = value

    return click.Option([*([short] if short else []), f"--{name}"], expose_value=False, callback=keep, **more)


def with_tolerances(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --atol and --rtol to a command, which gets them as `tolerances`."""

    @wraps(command)
    def with_bounds(*arguments: Any, atol: dict[str, float], rtol: dict[str, float], **options: Any) -> Any:
        from ov_gather.crosscheck.tolerances import Tolerances

        return command(*arguments, tolerances=Tolerances(atol, rtol), **options)

    for name, help_ in (
        ("--rtol", "The same, relative to the expected number. Both are added."),
        ("--atol", "Permit this difference in floating-point outputs, or in one output, instead of the usual one; repeat."),
    ):
        option = click.option(name, multiple=True, metavar="[OUTPUT=]NUMBER", callback=_bounds, help=help_)
        with_bounds = option(with_bounds)
    return with_bounds


def _bounds(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    """Parse the values of --atol or --rtol; the bound of all outputs that are not named has the name ""."""
    from ov_gather.crosscheck.tolerances import check_bound

    found: dict[str, float] = {}
    for text in texts:
        name, separator, number = text.rpartition("=")
        try:
            bound = check_bound(float(number))
        except ValueError:
            raise click.BadParameter(f"{text}: give NUMBER or OUTPUT=NUMBER, with a number from 0 on") from None
        if separator and not name:
            raise click.BadParameter(f"{text}: a name must stand before the '='")
        if name in found:
            raise click.BadParameter(f"{text}: {f'output {name!r}' if name else 'the bound of all outputs'} is given twice")
        found[name] = bound
    return found


def given_besides(names: Collection[str]) -> list[click.Parameter]:
    """Return the parameters that are given on the command line, except those with these names."""
    context = click.get_current_context()
    options = (option for option in context.command.params if option.name not in names and option.expose_value)
    return [option for option in options if context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE]


def parse_release(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Return the value of --target as a known release; None if it is not given."""
    from ov_gather.rules.releases import release_named

    try:
        return None if text is None else release_named(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def parsed(texts: tuple[str, ...]) -> dict[str, Limits]:
    """Parse the values of --assume, to the form that `ov_gather.prove` accepts. Raises UsageError."""
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

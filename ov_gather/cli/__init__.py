"""The `ov-gather` command. Subcommands are imported on demand."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click

from ov_gather.cli.output import harmless, say, warn
from ov_gather.extension import reason
from ov_gather.system.imports import defer_imports, explained
from ov_gather.system.interrupts import end_cleanly, exit_code

# Summaries are repeated here so that --help does not import the commands.
COMMANDS = {
    "check": "Execute every gather-family layer on several runtimes, and compare the results.",
    "validate": "Find errors in OpenVINO IR files, without any runtime.",
    "prove": "Prove which gathers and scatters stay in bounds, and for which inputs.",
    "diff": "List the differences between two OpenVINO IRs, regardless of names.",
    "explain": "Explain a rule of validate, or list the rules.",
    "run": "Execute one layer with our kernel.",
    "convert": "Convert an ONNX model or a PyTorch program to OpenVINO IR.",
    "accelerate": "Make the gathers of an OpenVINO model faster.",
    "harden": "Make a model safe for any indices.",
    "bisect": "Find the first node at which two models differ.",
    "bench": "Measure our kernel against other libraries.",
    "extension": "Our library for OpenVINO: path, build, clean.",
}


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Escape control characters in the errors that click prints, which may quote the command line."""
    try:
        yield
    except click.ClickException as error:
        if not error.message.startswith("Usage: "):  # click raises the help as an error if a command is missing
            vars(error)["message"] = harmless(error.message)
        raise


class _LazyGroup(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"ov_gather.cli.{name.replace('-', '_')}").command
        return command

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        """Parse the options before the command."""
        with _printable_errors():
            return super().make_context(*given, **options)

    def invoke(self, context: click.Context) -> Any:
        """Parse the command, and run it."""
        with _printable_errors():
            return super().invoke(context)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ov-gather")
def group() -> None:
    """The gather family for OpenVINO, exactly as ONNX means it.

    \b
    ov-gather check ir_samples/valid       execute each layer on several runtimes, compare the results
    ov-gather validate models/             find errors in IR files, without any runtime
    ov-gather prove models/                prove which indices stay in bounds, and for which inputs
    ov-gather diff old.xml new.xml         list differences, regardless of ids, names and order
    ov-gather run layer.xml --input data=d.npy --input indices=i.npy -o out.npy
    ov-gather convert model.onnx -o model.xml
    ov-gather accelerate model.xml -o faster.xml
    ov-gather harden model.xml -o safe.xml --policy raise

    Exit code: 0 clean, 1 findings or unexplained differences, 2 failed.
    """


def main() -> None:
    """Run the command line. User errors are one line on stderr and exit code 2; Ctrl+C exits 130, SIGTERM 143."""
    if sys.stdout is None:  # closed by the caller, who wants only the exit code
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process lives
    elif isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may have characters that the terminal cannot encode
    end_cleanly()
    defer_imports()
    run_command()


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Run a command, by default the command line of this process. Raises SystemExit with its exit code."""
    warnings.showwarning = lambda message, *_: warn(message)
    try:
        group(arguments)
    except ImportError as error:
        _fail(str(explained(error)))
    except (IndexError, MemoryError, OSError, OverflowError, TypeError, ValueError) as error:
        _fail(str(error) or type(error).__name__)
    except RuntimeError as error:
        if isinstance(error, RecursionError):
            raise  # our bug, so keep the traceback
        _fail(f"OpenVINO: {reason(error)}")


def _fail(message: str) -> None:
    if (code := exit_code()) is not None:
        sys.exit(code)
    say(f"error: {message}", err=True)
    sys.exit(2)

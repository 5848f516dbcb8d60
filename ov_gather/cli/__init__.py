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

from ov_gather.cli.options import with_common_options
from ov_gather.cli.output import COLOR, QUIET, VERBOSE, harmless, say, warn
from ov_gather.extension import reason
from ov_gather.system import supervision
from ov_gather.system.imports import defer_imports, explained
from ov_gather.system.interrupts import end_cleanly, exit_code
from ov_gather.system.suggestions import did_you_mean

# Summaries are repeated here so that --help does not import the commands.
GROUPS = {
    "Check": {
        "check": "Execute layers on several runtimes, compare the results.",
        "sweep": "Check made-up layers of all operations.",
        "validate": "Find errors in IR files, without any runtime.",
        "fix": "Mend what is mechanical in IR files.",
        "oldest": "Print the oldest OpenVINO that a model needs.",
        "explain": "Explain a rule, a divergence or a refusal.",
    },
    "Convert": {
        "convert": "Convert ONNX models and PyTorch programs to IR.",
        "legalize": "Rewrite ONNX models for OpenVINO, as ONNX.",
        "extract": "Write each gather of an ONNX model as an IR.",
        "lower": "Rewrite an IR for an older OpenVINO.",
    },
    "Change": {
        "accelerate": "Make the gathers of a model faster.",
        "harden": "Make a model safe for any indices.",
    },
    "Understand": {
        "prove": "Prove which indices stay in bounds, for which inputs.",
        "bisect": "Find the first node at which two models differ.",
        "diff": "List the differences between two IRs.",
    },
    "Run": {
        "run": "Execute one layer with our kernel.",
        "bench": "Measure our kernel against other libraries.",
    },
    "Extension": {
        "extension": "Our library for OpenVINO, or a new one of yours.",
    },
}
_AFTER_COMMAND = ("-q", "-v", *(f"--{name}" for name in (QUIET, VERBOSE, COLOR)))
COMMANDS = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Escape control characters in the errors that click prints, which may quote the command line.

    Exit 2 if the reader of a pipe is gone; click would exit 1, which means findings.
    """
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the flush of stdout at exit would fail again
        sys.exit(2)
    except click.ClickException as error:
        if _is_about_a_file(error):
            vars(error)["ctx"] = None  # the usage would not help: it is not printed
        if not error.message.startswith("Usage: "):  # click raises the help as an error if a command is missing
            vars(error)["message"] = harmless(error.message)
        raise


def _is_about_a_file(error: click.ClickException) -> bool:
    """Return True if a path on the command line is at fault, and not how the command is called."""
    if not isinstance(error, click.BadParameter) or isinstance(error, click.MissingParameter):
        return False
    return error.param is not None and isinstance(error.param.type, click.Path)


class _LazyGroup(click.Group):
    """The commands, each imported when it is called, and shown in groups."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"ov_gather.cli.{name}").command
        return with_common_options(command)

    def resolve_command(self, context: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not context.resilient_parsing:
            context.fail(f"there is no command '{args[0]}'; {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(context, args)

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        """Parse the options before the command."""
        with _printable_errors():
            try:
                return super().make_context(*given, **options)
            except click.NoSuchOption as error:
                if error.option_name in _AFTER_COMMAND:
                    raise click.UsageError(f"{error.option_name} stands after the command", error.ctx) from None
                raise

    def invoke(self, context: click.Context) -> Any:
        """Parse the command, and run it."""
        with _printable_errors():
            return super().invoke(context)

    def format_help(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the whole help, on one screen of 24 lines."""
        formatter.write(f"Usage: {context.command_path} COMMAND [OPTIONS] [ARGUMENTS]\n{self.help}\n\n")
        for group, commands in GROUPS.items():
            for number, (name, summary) in enumerate(commands.items()):
                formatter.write(f"{'' if number else group:12}{name:12}{summary}\n")
        formatter.write("\nCOMMAND --help explains a command; --version prints versions.\n")
        formatter.write("Exit code: 0 clean, 1 findings or unexplained differences, 2 failed.\n")


def _print_versions(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print the versions of ov-gather, of the runtimes, and what the kernel uses."""
    if not wanted or context.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    say(f"ov-gather {version('ov-gather')}")
    for package in ("openvino", "onnxruntime"):
        try:
            say(f"{package} {version(package)}")
        except PackageNotFoundError:
            say(f"{package}: not installed")
    try:
        native = import_module("ov_gather._native")
    except ImportError:
        say("kernel: NumPy, as ours is not compiled")
    else:
        say(f"kernel: {native.isa_name()}")
    context.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_versions)
def group() -> None:
    """The gather family for OpenVINO, exactly as ONNX means it."""


def main() -> None:
    """Run the command line. User errors are one line on stderr and exit code 2; Ctrl+C exits 130, SIGTERM 143, SIGHUP 129."""
    if sys.stdout is None:  # closed by the caller, who wants only the exit code
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process lives
    elif isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may have characters that the terminal cannot encode
    end_cleanly()
    defer_imports()
    with supervision.command():
        run_command()


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Run a command, by default the command line of this process. Raises SystemExit with its exit code."""
    warnings.showwarning = lambda message, *_: warn(message)
    try:
        group(arguments)
    except SystemExit as end:
        if place := supervision.foreign(end):
            _fail(f"{place} ends the command: code of a declared operation must return")
        raise
    except ImportError as error:
        _fail(str(explained(error)))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    except (IndexError, MemoryError, OverflowError, TypeError, ValueError) as error:
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

"""The command `ov-gather extension`: our OpenVINO extension, and new projects for operations of users."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from ov_gather.cli.options import DIRECTORY
from ov_gather.cli.output import say, warn
from ov_gather.extension import cache, extension_path, installed
from ov_gather.system.tables import counted


@click.group(name="extension")
def command() -> None:
    """Find, compile or remove our extension for OpenVINO, which is otherwise compiled at first use; begin one of your own."""


@command.command(name="path")
def path() -> None:
    """Print the path of the extension; compile it first if there is none.

    \b
    ovc model.onnx --extension $(ov-gather extension path)
    benchmark_app -m model.xml -extensions $(ov-gather extension path)

    Exit code: 0 done, 2 failed.
    """
    say(extension_path())


@command.command(name="build")
@click.option("--openvino", "release", metavar="RELEASE", help="Compile for this release, instead of the installed OpenVINO.")
def build(release: str | None) -> None:
    """Compile the extension, and print its path.

    \b
    ov-gather extension build
    ov-gather extension build --openvino 2025.4.1

    Another release than the installed one is downloaded with pip, and not kept. The extension is used once that release is
    installed.

    Exit code: 0 done, or it was there already, 2 failed.
    """
    say(extension_path() if release is None else _build_for(release))


@command.command(name="clean")
def clean() -> None:
    """Remove all compiled extensions from your cache directory, and print what was removed.

    That is $XDG_CACHE_HOME/ov-gather, or ~/.cache/ov-gather. Other files there stay, such as those of `ov-gather validate
    --cache user`. A process that has loaded an extension keeps it. What is needed again is compiled again.

    Exit code: 0 done, or there was none, 2 failed.
    """
    from ov_gather.extension.removal import remove_all
    from ov_gather.system.private import user_cache

    total = count = 0
    for removed in remove_all():
        total, count = total + removed.size, count + (removed.size > 0)
        say(f"{removed.folder}: removed, {removed.size:,} bytes")
        for kept in removed.kept:
            warn(f"{kept}: kept, for it is not ours")
    say(f"{counted(count, 'extension')} removed from {user_cache()}, {total:,} bytes")


@command.command(name="new")
@click.argument("name")
@click.argument("directory", type=DIRECTORY)
@click.option("--opset", help="Opset of the operation, also its domain in ONNX; by default as the files are called.")
def new(name: str, directory: Path, opset: str | None) -> None:
    """Begin a project for an operation of yours, of type NAME, in a new DIRECTORY.

    \b
    ov-gather extension new Softsnake softsnake
    pip install scikit-build-core cmake pytest
    pip install --no-build-isolation ./softsnake
    pytest softsnake

    It has the operation in C++, to be changed, with conversions from ONNX and PyTorch, tests, and a wheel for the installed
    OpenVINO.

    Exit code: 0 done, 2 failed; then nothing is written.
    """
    from ov_gather.extension.project import create
    from ov_gather.rules.opsets import in_any_case

    for path in create(name, directory, opset=opset, openvino_types=in_any_case()):
        say(path)


def _build_for(release: str) -> Path:
    with TemporaryDirectory(prefix="ov-gather-") as folder:
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--target", folder]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, f"openvino=={release}"], capture_output=True, text=True
        )
        if done.returncode:
            why = next((line for line in done.stderr.splitlines()[::-1] if line.startswith("ERROR:")), "ERROR: pip failed")
            raise ValueError(f"OpenVINO {release} cannot be downloaded: {why.removeprefix('ERROR:').strip()}")
        return cache.make(installed.read(Path(folder, "openvino")))

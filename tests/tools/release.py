"""Make what a release consists of, in dist/, as the workflow does, and check it; a table says what held.

The sources are those of the last commit, without the history of git; the wheel is made from the sdist. With `--tag v1.2.3`, the
tag must be the version of pyproject.toml, and CHANGELOG.md have a section of it with a date, which is written to dist/notes.md.
Needs build, twine, check-wheel-contents and abi3audit, and auditwheel on Linux: `nox -s release` installs them.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "tests" / "tools" / "release_contents.txt"
MOST = 4 * 2**20
"""Bytes that the package takes when it is installed, without what it depends on."""
LINKS = ("Repository", "Documentation", "Changelog", "Issues")
SYSTEMS = ("MacOS", "Microsoft :: Windows", "POSIX :: Linux")


class ReleaseError(Exception):
    """Something that a release must not be."""


def settings() -> dict[str, Any]:
    """Return the contents of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def version() -> str:
    """Return the version, which pyproject.toml states."""
    return str(settings()["project"]["version"])


def notes(changelog: str, tag: str, wanted: str) -> str:
    """Return the section of the changelog of a tag. Raises ReleaseError."""
    if tag != f"v{wanted}":
        raise ReleaseError(f"the tag is {tag}, the version of pyproject.toml {wanted}: tag v{wanted}, or change the version")
    found = re.search(rf"^## {re.escape(wanted)} \((.*?)\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if found is None:
        raise ReleaseError(f"CHANGELOG.md has no section '## {wanted} (DATE)'")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", found[1]):
        raise ReleaseError(f"CHANGELOG.md says '{wanted} ({found[1]})': write the date, such as 2026-01-31")
    return found[2].strip() + "\n"


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a command, and return what it prints. Raises ReleaseError with it."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))} exits with {done.returncode}:\n{done.stdout}")
    return done.stdout


def built(dist: Path) -> Path:
    """Make an sdist of the last commit, and a wheel of the sdist; return the wheel."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as sources:
            sources.extractall(folder, filter="data")
        run(sys.executable, "-m", "build", "--outdir", dist, folder, CIBUILDWHEEL="true")  # the wheel that is published
    (wheel,) = dist.glob("*.whl")
    return wheel


def pattern_of(name: str) -> str:
    """Return a name in a wheel without what is another in each: the version, hashes, tags of Pythons, and single modules."""
    name = re.sub(r"-[\d.]+\.dist-info/", "-VERSION.dist-info/", name)
    name = re.sub(r"(_native|libov_gather_kernel)[.\w-]*", r"\1.BINARY", name)
    return re.sub(r"[^/]+\.py$", "*.py", name)


def contents(wheel: Path) -> str:
    """Compare what a wheel holds with the kept list."""
    with zipfile.ZipFile(wheel) as archive:
        found = sorted({pattern_of(name) for name in archive.namelist()})
        size = sum(entry.file_size for entry in archive.infolist())
    kept = KEPT.read_text().splitlines()
    if found != kept:
        more, fewer = sorted(set(found) - set(kept)), sorted(set(kept) - set(found))
        raise ReleaseError(f"the wheel has {more}, and lacks {fewer}: correct {KEPT.relative_to(ROOT)} if that is right")
    if size > MOST:
        raise ReleaseError(f"installed, it takes {size:,} bytes, more than {MOST:,}")
    return f"{len(found)} patterns, {size:,} bytes installed"


def metadata(wheel: Path) -> str:
    """Check what an index shows: links, authors, classifiers, and pictures of the README by absolute addresses."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told: Message = BytesParser().parsebytes(archive.read(name))
    urls = [entry.partition(",")[0] for entry in told.get_all("Project-URL", [])]
    classifiers = told.get_all("Classifier", [])
    missing = [link for link in LINKS if link not in urls]
    missing += [system for system in SYSTEMS if f"Operating System :: {system}" not in classifiers]
    missing += [] if told["Author"] or told["Author-email"] else ["an author"]
    missing += [] if any(one.startswith("Programming Language :: Python :: 3.") for one in classifiers) else ["Python versions"]
    missing += [
        f"an absolute link for {link}" for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)]*)\)", str(told.get_payload()))
    ]
    if missing:
        raise ReleaseError(f"the metadata lacks {', '.join(missing)}")
    return f"{len(urls)} links, {len(classifiers)} classifiers"


def tried(wheel: Path) -> str:
    """Install the wheel where nothing else of ours is, without a compiler, and use it."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        bin_ = Path(folder, "Scripts" if os.name == "nt" else "bin")
        run(bin_ / "python", "-m", "pip", "install", "--quiet", wheel, cwd=Path(folder))
        alone = {"PATH": str(bin_), "CC": "no compiler", "CXX": "no compiler", "HOME": folder}
        for command in (
            ("python", "-W", "error", "-c", "from ov_gather.kernels import native; assert native.load()"),
            ("ov-gather", "explain", "OVG204"),
            ("ov-gather", "validate", ROOT / "ir_samples" / "valid"),
        ):
            told = run(bin_ / command[0], *command[1:], cwd=Path(folder), **alone)
    return told.splitlines()[-1]


def platform(wheel: Path) -> str:
    """Return the platform tag that the shared libraries of a wheel for Linux allow."""
    told = run(Path(sys.executable).with_name("auditwheel"), "show", wheel.name, cwd=wheel.parent)
    found = re.search(r"platform tag:\s*\"(\w+)\"", told)
    if found is None:
        raise ReleaseError(told)
    return found[1]


def tool(name: str, *arguments: str | Path) -> Callable[[Path], str]:
    """Return a check that runs a tool on the wheel; the tool must find nothing."""

    def check(wheel: Path) -> str:
        run(Path(sys.executable).with_name(name), *arguments, wheel)
        return wheel.name

    return check


CHECKS: dict[str, Callable[[Path], str]] = {
    "twine check --strict": tool("twine", "check", "--strict"),
    "check-wheel-contents": tool("check-wheel-contents"),
    "abi3audit": tool("abi3audit", "--strict"),
    "contents and size": contents,
    "metadata": metadata,
    "installed, without a compiler": tried,
}
if sys.platform == "linux":
    CHECKS["auditwheel show"] = platform


@click.command(help=__doc__)
@click.option("--tag", help="The tag that is released.")
def main(tag: str | None) -> None:
    """Make and check a release."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    if tag is not None:
        (dist / "notes.md").write_text(
            notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), tag, version()), encoding="utf-8"
        )
    wheel = built(dist)
    table = Table("check", "result", "of", title=f"ov-gather {version()}")
    failed = []
    for name, check in CHECKS.items():
        try:
            table.add_row(name, "ok", check(wheel))
        except ReleaseError as error:
            failed.append(f"{name}: {error}")
            table.add_row(name, "[red]failed[/red]", "")
    Console().print(table)
    if failed:
        raise click.ClickException("\n".join(failed))


if __name__ == "__main__":
    main()

"""The checks of ov-gather, each in an environment of its own. The scripts in .ci/ say what they run; CI runs the same ones."""

from __future__ import annotations

import nox

nox.options.sessions = ["lint", "types", "tests"]
PROJECT = nox.project.load_toml("pyproject.toml")
TEST = PROJECT["project"]["optional-dependencies"]["test"]
# The page that validates has a wheel of its own, which is built in the environment of the site.
BUILD = [*PROJECT["build-system"]["requires"], *(requirement for requirement in TEST if requirement.startswith("hatch-"))]


@nox.session
def lint(session: nox.Session) -> None:
    """Check format and style of Python and C++."""
    session.install(*(requirement for requirement in TEST if requirement.startswith(("ruff", "clang-format"))))
    session.run(".ci/lint", external=True)


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy."""
    session.install(".[test]")
    session.run(".ci/types", external=True)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; arguments go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def sanitizers(session: nox.Session) -> None:
    """Run the kernel with AddressSanitizer and UndefinedBehaviorSanitizer; after `--all` also the module and the extension."""
    session.install("-e", ".[test]")
    session.run(".ci/sanitizers", *session.posargs, external=True)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site of the documentation in site/; `--try` adds the page that validates in the browser."""
    session.install(".[all,docs]", *BUILD)
    session.run(".ci/docs", *session.posargs, external=True)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the kernel beside its peers; arguments go to `ov-gather bench`."""
    session.install(".[all,peers]")
    session.run("ov-gather", "bench", *session.posargs)


@nox.session(python="3.12")  # the Python whose wheel serves all later ones
def release(session: nox.Session) -> None:
    """Make an sdist and a wheel in dist/, as the workflow does, and check them; `--tag v1.2.3` checks the tag, too."""
    session.install("build", "twine", "check-wheel-contents", "abi3audit", "auditwheel", "click", "rich")
    session.run("python", "tests/tools/release.py", *session.posargs)

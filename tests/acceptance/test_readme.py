"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONSOLE = re.compile(
    r"^\$ ov-gather (?P<arguments>(?:check|validate|explain) .*)\n(?P<output>(?:[^$`].*\n)+)\$ echo \$\?\n(?P<code>\d)", re.M
)
SESSIONS = [match.groupdict() for match in CONSOLE.finditer(README)]


def test_sessions_are_found():
    assert [session["arguments"].split()[0] for session in SESSIONS] == ["check", "validate", "explain", "validate"]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session["arguments"].split()[0])
def test_session(cli, session):
    done = cli(*shlex.split(session["arguments"]))
    assert done.stdout == session["output"]
    assert done.returncode == int(session["code"])


def test_python_session(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = "\n".join(re.findall(r"```python\n(.*?)```", README, re.S))
    example = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert results.attempted == 11
    assert results.failed == 0

"""The command line: what becomes of errors that come out of a command, and the option --assume."""

import click
import pytest

from ov_gather import cli
from ov_gather.cli.options import parsed
from ov_gather.system import interrupts


@pytest.fixture
def raising(monkeypatch):
    """The command line, whose only command raises an error."""

    def run(error: BaseException) -> None:
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(cli, "group", lambda arguments: command(args=[]))
        monkeypatch.setattr(cli, "end_cleanly", lambda: None)  # the tests go on
        cli.main()

    return run


def test_what_openvino_throws_is_its_last_line(raising, capsys):
    with pytest.raises(SystemExit, match="2"):
        raising(RuntimeError("Exception from src/inference/src/cpp/core.cpp:109:\n Unable to compile\n\n"))
    assert capsys.readouterr().err == "error: OpenVINO: Unable to compile\n"


def test_a_fault_of_ours_stays_one(raising):
    with pytest.raises(RecursionError):
        raising(RecursionError("too deep"))


def test_what_a_signal_became_on_its_way_through_other_libraries_is_not_told(raising, monkeypatch, capsys):
    monkeypatch.setattr(interrupts, "_ended_by", [143])
    with pytest.raises(SystemExit, match="143"):
        raising(RuntimeError("SystemExit: 143"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "name", "limits"),
    [
        ("input_ids=0..999", "input_ids", (0, 999)),
        ("i=-5..-1", "i", (-5, -1)),
        ("dim(x, 1)=5..", "dim(x, 1)", (5, None)),
        ("x=..7", "x", (None, 7)),
        ("x=-0.5..1e3", "x", (-0.5, 1000.0)),
        ("a=b:0=1..2", "a=b:0", (1, 2)),
        ("a..b=0..1", "a..b", (0, 1)),
    ],
)
def test_what_is_assumed(text, name, limits):
    assert parsed((text,)) == {name: limits}


@pytest.mark.parametrize("text", ["x", "x=5", "x=0...5", "x=a..b", "=0..1", "0..5", "x=0..1..2", "x=0.. 5"])
def test_what_is_not_understood_is_named(text):
    with pytest.raises(click.UsageError, match=r"give NAME=LO\.\.HI") as error:
        parsed((text,))
    assert text in str(error.value)


def test_twice():
    with pytest.raises(click.UsageError, match="x is given twice"):
        parsed(("x=0..5", "x=1..2"))

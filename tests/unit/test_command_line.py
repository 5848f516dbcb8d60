"""What becomes of errors that come out of a command."""

import click
import pytest

from ov_gather import cli
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

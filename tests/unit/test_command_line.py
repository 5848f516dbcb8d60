"""The command line: help, options that all commands share, paths, completion, and what becomes of errors."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from rich.console import Console

from ov_gather import cli
from ov_gather.cli import output
from ov_gather.cli.options import Jobs, parsed
from ov_gather.cli.output import COLOR, QUIET, VERBOSE
from ov_gather.cli.paths import paths_argument
from ov_gather.system import interrupts, supervision
from ov_gather.system.platforms import core_count
from ov_gather.system.tables import cell, new_table


@pytest.fixture
def raising(monkeypatch):
    """The command line, whose only command raises an error."""

    def run(error: BaseException) -> None:
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(cli, "group", lambda arguments: command(args=[]))
        monkeypatch.setattr(cli, "end_cleanly", lambda: None)  # the tests go on
        monkeypatch.setattr(cli, "defer_imports", lambda: None)  # and import what they need
        cli.main()

    return run


def test_what_openvino_throws_is_its_last_line(raising, capsys):
    with pytest.raises(SystemExit, match="2"):
        raising(RuntimeError("Exception from src/inference/src/cpp/core.cpp:109:\n Unable to compile\n\n"))
    assert capsys.readouterr().err == "error: OpenVINO: Unable to compile\n"


def test_a_fault_of_ours_stays_one(raising):
    with pytest.raises(RecursionError):
        raising(RecursionError("too deep"))


def test_after_a_command_no_process_is_supervised(raising, monkeypatch):
    with pytest.raises(SystemExit):
        raising(RuntimeError("done"))
    monkeypatch.setattr(supervision, "forked", lambda: pytest.fail("a process of tests forks"))
    supervision.supervise()


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


COMMANDS = {name: cli.group.get_command(click.Context(cli.group), name) for name in cli.COMMANDS}
SHARED = {
    "output",
    "force",
    "jobs",
    "scheduler",
    "timeout",
    "format_",
    "device",
    "inputs",
    "threads",
    "extensions",
    "ops",
    QUIET,
    VERBOSE,
    COLOR,
}


def test_help_fits_on_one_screen():
    lines = CliRunner().invoke(cli.group, ["--help"]).output.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert [name for name in COMMANDS if not any(name in line.split()[:2] for line in lines)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_has_many_options_of_its_own(name):
    own = [option.name for option in COMMANDS[name].params if isinstance(option, click.Option) and option.name not in SHARED]
    assert len(own) <= 12, own


def test_versions():
    lines = CliRunner().invoke(cli.group, ["--version"]).output.splitlines()
    assert [line.split()[0].rstrip(":") for line in lines] == ["ov-gather", "openvino", "onnxruntime", "kernel"]


@pytest.mark.parametrize(
    ("variables", "arguments", "coloured"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
    ],
)
def test_colours(samples, variables, arguments, coloured, monkeypatch):
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    found = CliRunner().invoke(cli.group, ["validate", str(samples / "invalid"), *arguments], env=variables, color=True)
    assert ("\x1b[" in found.output) == coloured


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["m1.xml"], ["m1.xml"]),
        (["m*.xml", "m1.xml"], ["m1.xml", "m2.xml"]),
        (["**/*.xml"], ["deep/m3.xml", "m1.xml", "m2.xml", "odd[1].xml"]),
        (["odd[1].xml"], ["odd[1].xml"]),
        (["./m[12].xml"], ["m1.xml", "m2.xml"]),
    ],
)
def test_glob_patterns(given, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    for name in ("m1.xml", "m2.xml", "odd[1].xml", "deep/m3.xml"):
        (tmp_path / name).touch()
    assert matching(given) == found


def matching(given: list[str]) -> list[str]:
    """The paths that a command gets for these arguments."""
    found: list[str] = []

    @click.command()
    @paths_argument("paths", click.Path(exists=True, path_type=Path), "PATH...")
    def command(paths):
        found.extend(path.as_posix() for path in paths)

    assert CliRunner().invoke(command, given, catch_exceptions=False).exit_code == 0
    return found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.xml", ["a/b/m.xml", "a/m.xml"]),
        ("./a/**/m.xml", ["a/b/m.xml", "a/m.xml"]),
        ("**/b/**/*.xml", ["a/b/m.xml"]),
        ("*/m.xml", ["a/m.xml", "loop/m.xml", "other/m.xml"]),
        ("a/**", ["a/b", "a/b/m.xml", "a/loop", "a/m.xml"]),
    ],
)
def test_glob_patterns_do_not_follow_links_to_directories_below(pattern, found, tmp_path, monkeypatch):
    """Two links to their own directory would be 2^40 paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    for place in ("a/m.xml", "a/b/m.xml", ".hidden/m.xml"):
        (tmp_path / place).touch()
    for link in ("loop", "other", "a/loop"):
        (tmp_path / link).symlink_to(tmp_path / "a")
    assert matching([pattern]) == found


def test_a_directory_that_a_pattern_cannot_search_is_named(tmp_path, monkeypatch):
    def walk(top, onerror):
        onerror(PermissionError(13, "Permission denied", f"{top}locked"))
        return iter(())

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.walk", walk)
    with pytest.raises(PermissionError, match="locked"):
        matching(["**/*.xml"])


def test_a_match_is_never_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").touch()
    found = CliRunner().invoke(cli.group, ["oldest", "?"], input="<net/>")
    assert isinstance(found.exception, SystemExit)
    assert found.output.startswith(f"{tmp_path}/-: ")


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        (["validate", "--select"], "OVG40", ["OVG401", "OVG402"]),
        (["validate", "--target"], "2025.", ["2025.0", "2025.1"]),
        (["lower", "m.xml", "--target"], "2026.4", ["2026.4"]),
        (["explain"], "zeros-for", ["zeros-for-negative-indices"]),
        (["accelerate", "m.xml", "--pass"], "to-", ["to-gather"]),
        ([], "har", ["harden"]),
    ],
)
def test_completion(words, incomplete, expected):
    complete = ShellComplete(cli.group, {}, "ov-gather", "_OV_GATHER_COMPLETE")
    values = [item.value for item in complete.get_completions(words, incomplete)]
    assert values[: len(expected)] == expected


@pytest.mark.parametrize(
    "words", [["explaim"], ["validate", "--select"], ["validate", "**/*.xml", "--select"], ["convert", "m.xml", "-o"]]
)
def test_completion_reads_no_files_and_raises_nothing(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.ov_gather]\nselect = 5")
    monkeypatch.setattr("os.walk", lambda *_, **options: pytest.fail("searched"))
    complete = ShellComplete(cli.group, {}, "ov-gather", "_OV_GATHER_COMPLETE")
    assert isinstance(complete.get_completions(words, ""), list)


def test_quiet_prints_results_only(samples, tmp_path):
    path = str(samples / "valid" / "rank_1_opset16.xml")
    arguments = ["lower", path, "--target", "2025.4", "-o", str(tmp_path / "m.xml"), "--force"]
    assert CliRunner().invoke(cli.group, arguments).output != ""
    assert CliRunner().invoke(cli.group, [*arguments, "-q"]).output == ""
    found = CliRunner().invoke(cli.group, ["validate", str(samples / "invalid" / "OVG204"), "-q"])
    assert "error OVG204" in found.output


def test_jobs_auto_is_the_number_of_cores():
    assert Jobs(1, 1024).convert("auto", None, None) == core_count()
    assert "--jobs N|auto " in CliRunner().invoke(cli.group, ["convert", "--help"]).output


@pytest.mark.parametrize("arguments", [["-q", "validate", "m.xml"], ["-v"], ["--color", "never", "validate"]])
def test_an_option_before_the_command_is_told_its_place(arguments):
    found = CliRunner().invoke(cli.group, arguments)
    assert (found.exit_code, arguments[0] + " stands after the command" in found.output) == (2, True)


@pytest.mark.parametrize("arguments", [["explain"], ["--help"]])
def test_a_pipe_that_nobody_reads_is_not_a_finding(arguments):
    process = subprocess.Popen([sys.executable, "-m", "ov_gather", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert (process.stderr.read(), process.wait()) == (b"", 2)
    process.stderr.close()


def test_the_package_is_a_command():
    done = subprocess.run([sys.executable, "-m", "ov_gather", "explain", "OVG204"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("OVG204 ")


@pytest.mark.parametrize(("width", "is_table"), [(80, True), (40, True), (25, False)])
def test_a_table_breaks_no_word(width, is_table, monkeypatch, capsys):
    monkeypatch.setattr(output, "has_colour", lambda: True)  # without colour and terminal, lines may have any length
    monkeypatch.setattr(output, "console", lambda: Console(width=width, force_terminal=False))
    table = new_table("layer", "why")
    table.add_row(cell("models/encoder.xml", "  Gather 'pick'"), cell("in bounds if ids are"))
    output.print_table(table)
    lines = capsys.readouterr().out.splitlines()
    if is_table:
        assert max(map(len, lines)) <= width
        assert lines[0].split() == ["layer", "why"]
        assert lines[2].split()[:2] == ["models/encoder.xml", "in"]
    else:
        assert lines == ["models/encoder.xml", "  Gather 'pick'", "    why: in bounds if ids are"]

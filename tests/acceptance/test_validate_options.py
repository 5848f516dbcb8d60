"""What `ov-gather validate` checks, what it reports and how it exits: every option, as a user runs it."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from helpers.paths import VALID
from ov_gather.cli.validate import command
from ov_gather.rules.register import RULES

COMMAND = str(Path(sys.executable).with_name("ov-gather"))
AXIS_3 = "ir_samples/invalid/OVG204/axis_3.xml"
INVALID = ("ir_samples/invalid/OVG203/fraction.xml", "ir_samples/invalid/OVG204", "ir_samples/invalid/OVG402/off_axis.xml")
DIVERGENT = (
    "ir_samples/divergent/narrowed-to-32-bits/beam_ids.xml",
    "ir_samples/divergent/negative-indices/onnx_page_3.xml",
    "ir_samples/divergent/no-dynamic-rank/dynamic_rank.xml",
)
COUNT_VALID = len(list(VALID.glob("*.xml")))
CLEAN = "errors: 0, warnings: 0, notes: 0\n"


@pytest.fixture
def zoo(samples, tmp_path):
    """Two IRs, and XML files of other kinds."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    shutil.copy(samples / "valid" / "spec_layer.xml", tmp_path / "deep" / "er" / "model.xml")
    shutil.copy(samples / "invalid" / "OVG204" / "axis_3.xml", tmp_path / "broken.xml")
    (tmp_path / "pom.xml").write_text("<project><modules/></project>")
    (tmp_path / "deep" / "list.xml").write_text('<!DOCTYPE plist SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY e "x">]><plist/>')
    return tmp_path


def rules(done):
    return {line.split(": ")[1].split()[1] for line in done.stdout.splitlines() if ".xml:" in line}


# ---- which rules


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"OVG203", "OVG204", "OVG402"}),
        (("--select", "OVG2"), {"OVG203", "OVG204"}),
        (("--select", "OVG203", "--select", "OVG4"), {"OVG203", "OVG402"}),
        (("--ignore", "OVG2"), {"OVG402"}),
        (("--select", "OVG2", "--ignore", "OVG204"), {"OVG203"}),
    ],
)
def test_select_and_ignore(cli, options, expected):
    done = cli("validate", *INVALID, *options, "--format", "concise")
    assert rules(done) == expected
    assert done.returncode == 1


def test_nothing_selected_is_found(cli):
    done = cli("validate", *INVALID, "--select", "OVG6")
    assert (done.returncode, done.stdout) == (0, f"files: 5, {CLEAN}")


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize(
    ("name", "hint"),
    [("OVG2O4", "did you mean OVG204?"), ("ovg4", "did you mean OVG4?"), ("nonsense", "groups are OVG0, OVG1,")],
)
def test_unknown_rules_are_refused(cli, option, name, hint):
    done = cli("validate", "ir_samples/valid", option, name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: there is no rule or group '{name}'; {hint}")
    assert done.stdout == ""


def test_severities(cli):
    def run(*options):
        done = cli("validate", *DIVERGENT, *options, "--format", "concise")
        return done.returncode, len(rules(done)), done.stdout.splitlines()[-1]

    assert run() == (0, 3, "files: 3, errors: 0, warnings: 1, notes: 3")
    assert run("--fail-on", "warning") == (1, 3, "files: 3, errors: 0, warnings: 1, notes: 3")
    assert run("--min-severity", "warning") == (0, 1, "files: 3, errors: 0, warnings: 1, notes: 0")
    assert run("--min-severity", "error", "--fail-on", "warning") == (0, 0, "files: 3, errors: 0, warnings: 0, notes: 0")
    assert cli("validate", AXIS_3, "--fail-on", "never").returncode == 0


def test_statistics(cli, zoo):
    assert cli("validate", *INVALID, zoo, "--statistics").stdout.endswith(
        f"      1  OVG203  {RULES['OVG203'].summary}\n"
        f"      4  OVG204  {RULES['OVG204'].summary}\n"
        f"      1  OVG402  {RULES['OVG402'].summary}\n"
        "files: 7, errors: 6, warnings: 0, notes: 0, skipped: 2\n"
    )
    document = json.loads(cli("validate", *INVALID, zoo, "--statistics", "--format", "json").stdout)
    assert document["statistics"] == {"skipped": 2, "OVG203": 1, "OVG204": 4, "OVG402": 1}


# ---- which files


def test_directories_are_searched_for_irs(cli, zoo):
    done = cli("validate", zoo, "--format", "json")
    document = json.loads(done.stdout)
    assert document["files"] == 2
    assert [finding["path"] for finding in document["findings"]] == [str(zoo / "broken.xml")]


def test_other_xml_is_a_finding_where_it_is_named(cli, zoo):
    done = cli("validate", zoo / "pom.xml", zoo / "deep" / "list.xml", "--format", "concise")
    assert (done.returncode, rules(done)) == (1, {"OVG003", "OVG002"})
    done = cli("validate", zoo / "pom.xml", zoo / "broken.xml", "--skip-other-xml", "--statistics", "--select", "OVG0")
    assert (done.returncode, done.stdout) == (0, "files: 1, errors: 0, warnings: 0, notes: 0, skipped: 1\n")


def test_other_xml_is_not_skipped_with_a_bin_beside_it(cli, zoo):
    (zoo / "pom.bin").write_bytes(b"")
    assert rules(cli("validate", zoo, "--format", "concise")) == {"OVG003", "OVG204"}


def test_a_commit_may_hold_only_other_xml(cli, zoo):
    done = cli("validate", zoo / "pom.xml", zoo / "deep" / "list.xml", "--skip-other-xml")
    assert (done.returncode, done.stdout) == (0, f"files: 0, {CLEAN}")


@pytest.mark.parametrize("option", [(), ("--skip-other-xml",)])
def test_nothing_to_check(cli, tmp_path, option):
    (tmp_path / "pom.xml").write_text("<project/>")
    done = cli("validate", tmp_path, *option)
    assert done.returncode == 2
    assert "there is nothing to do" in done.stderr


@pytest.mark.parametrize("damaged", [b"", b"\0", b"<net", b"\xff\xfe", b" " * 70_000 + b"<project/>"])
def test_a_damaged_file_is_never_skipped(cli, tmp_path, damaged):
    (tmp_path / "model.xml").write_bytes(damaged)
    assert cli("validate", tmp_path, "--skip-other-xml").returncode == 1


@pytest.mark.parametrize(
    ("pattern", "left"),
    [("deep", 1), ("deep/", 1), ("*/er", 1), ("model.xml", 1), ("broken*", 1), ("nothing", 2), ("*/deep/er/model.xml", 1)],
)
def test_exclude(cli, zoo, pattern, left):
    document = json.loads(cli("validate", zoo, "--exclude", pattern, "--format", "json").stdout)
    assert document["files"] == left


def test_exclude_holds_for_named_files_and_may_leave_nothing(cli):
    done = cli("validate", AXIS_3, "ir_samples/valid/spec_layer.xml", "--exclude", "OVG204")
    assert (done.returncode, done.stdout) == (0, f"files: 1, {CLEAN}")
    assert cli("validate", AXIS_3, "--exclude", "invalid").returncode == 2


def test_a_file_counts_once(cli):
    assert cli("validate", AXIS_3, AXIS_3, "ir_samples/invalid/OVG204").stdout.endswith(
        "files: 3, " + "errors: 3, warnings: 0, notes: 0\n"
    )


def test_standard_input(real_cli, samples):
    text = (samples / "valid" / "openvino_page_3.xml").read_text()
    done = real_cli("validate", "-", input=text)
    assert (done.returncode, done.stdout) == (0, f"files: 1, {CLEAN}")
    done = real_cli("validate", "-", "--format", "json", input=text.replace('axis="0"', 'axis="5"'))
    assert done.returncode == 1
    assert [(finding["rule"], finding["path"]) for finding in json.loads(done.stdout)["findings"]] == [("OVG204", "<stdin>")]
    assert "must stand alone" in real_cli("validate", "-", AXIS_3, input=text).stderr


def test_files_that_cannot_be_read(cli, tmp_path):
    (tmp_path / "broken_link.xml").symlink_to("nowhere")
    (tmp_path / "unreadable.xml").symlink_to("/proc/self/mem")  # for any user this file opens, and every read of it fails
    (tmp_path / "directory.xml").mkdir()
    os.mkfifo(tmp_path / "pipe.xml")
    done = cli("validate", tmp_path)
    assert done.returncode == 1
    assert done.stdout == (
        f"{tmp_path}/broken_link.xml: error OVG008: cannot be opened: No such file or directory\n"
        f"{tmp_path}/unreadable.xml: error OVG008: cannot be opened: Input/output error\n"
        "files: 2, errors: 2, warnings: 0, notes: 0\n"
    )


# ---- where the report goes


def test_output(cli, tmp_path):
    file = tmp_path / "report.json"
    done = cli("validate", AXIS_3, "--format", "json", "--output", file)
    assert (done.returncode, done.stdout) == (1, f"{file}: files: 1, errors: 1, warnings: 0, notes: 0\n")
    assert json.loads(file.read_text())["files"] == 1
    cli("validate", "ir_samples/valid", "--format", "concise", "--output", file)
    assert file.read_text() == f"files: {COUNT_VALID}, {CLEAN}"
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


def test_output_through_a_link(cli, tmp_path):
    (tmp_path / "latest.txt").symlink_to("report.txt")
    cli("validate", "ir_samples/valid", "--output", tmp_path / "latest.txt")
    assert (tmp_path / "latest.txt").is_symlink()
    assert (tmp_path / "report.txt").read_text() == f"files: {COUNT_VALID}, {CLEAN}"


def test_a_failure_leaves_the_last_output(cli, tmp_path):
    (tmp_path / "report.txt").write_text("the last one")
    assert cli("validate", "ir_samples/valid", "--select", "nonsense", "--output", tmp_path / "report.txt").returncode == 2
    assert [file.read_text() for file in tmp_path.iterdir()] == ["the last one"]


def test_output_that_cannot_be_written(cli, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for output in (tmp_path, tmp_path / "nowhere" / "report.txt", "/proc/report.txt", tmp_path / "pipe"):
        done = cli("validate", AXIS_3, "--output", output)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
        assert done.stderr.lower().splitlines()[-1].startswith("error: ")


def test_full_disk(samples):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, "validate", samples / "valid"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("pipeline", ["| head -n 1", "| true", ">&-"])
@pytest.mark.parametrize("name", ["text", "json"])
def test_a_reader_that_goes_away(samples, pipeline, name):
    script = f"'{COMMAND}' validate ir_samples/invalid --format {name} {pipeline}"
    done = subprocess.run(["bash", "-c", script], cwd=samples.parent, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


def on_terminal(*arguments, **environment):
    """What a terminal sees of stdout and stderr together."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", **environment}
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 1 << 16):
            seen += chunk
    except OSError:  # a terminal says like this that nobody writes to it any more
        pass
    os.close(ours)
    process.wait(timeout=60)
    return seen.decode()


def test_colour_only_on_a_terminal_and_never_with_no_color(cli, samples, tmp_path):
    path = samples / "invalid" / "OVG204" / "axis_3.xml"
    assert "\x1b[31m\x1b[1merror OVG204\x1b[0m" in on_terminal("validate", path, NO_COLOR="")
    assert "\x1b" not in on_terminal("validate", path, NO_COLOR="1")
    assert "\x1b" not in cli("validate", path).stdout
    on_terminal("validate", path, "--output", tmp_path / "report.txt", NO_COLOR="")
    assert "\x1b" not in (tmp_path / "report.txt").read_text()


def test_progress_bar_only_on_a_terminal(cli, samples):
    assert "validating" in on_terminal("validate", samples / "valid")
    assert cli("validate", "ir_samples/valid").stderr == ""


# ---- processes


def test_300_files_in_8_processes(cli, samples, tmp_path):
    for number in range(150):
        shutil.copy(samples / "valid" / "spec_layer.xml", tmp_path / f"{number:03}_good.xml")
        shutil.copy(samples / "invalid" / "OVG204" / "axis_3.xml", tmp_path / f"{number:03}_bad.xml")
    done = cli("validate", tmp_path, "--jobs", 8, "--format", "json")
    assert done.returncode == 1
    assert done.stdout == cli("validate", tmp_path, "--format", "json").stdout
    assert [finding["path"] for finding in json.loads(done.stdout)["findings"]] == [
        f"{tmp_path}/{number:03}_bad.xml" for number in range(150)
    ]


def test_processes_where_the_path_for_temporary_files_is_longer_than_that_of_a_socket_may_be(real_cli, tmp_path):
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    done = real_cli("validate", "ir_samples/valid", "--jobs", 2, env={**os.environ, "TMPDIR": str(directory)})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"files: {COUNT_VALID}, errors: 0")
    assert list(directory.iterdir()) == []


def test_a_fault_of_ours_is_a_finding_of_its_file(monkeypatch, samples):
    monkeypatch.setattr("ov_gather.cli.validate.validate", lambda source, **_: 1 // 0 if "axis" in source.name else [])
    files = [str(samples / "valid" / "spec_layer.xml"), str(samples / "invalid" / "OVG204" / "axis_3.xml")]
    done = CliRunner().invoke(command, [*files, "--select", "OVG6"])
    assert done.exit_code == 1
    assert done.output == (
        f"{files[1]}: error OVG099: the check failed: ZeroDivisionError: integer division or modulo by zero\n"
        "    this is a fault of ov-gather: report it\n"
        "files: 2, errors: 1, warnings: 0, notes: 0\n"
    )


def test_a_process_that_dies_is_a_finding_of_its_file(samples, tmp_path):
    """The process reads a pipe into which nothing is written, so that it waits until we kill it."""
    os.mkfifo(tmp_path / "pipe.xml")
    files = [samples / "valid" / "spec_layer.xml", tmp_path / "pipe.xml", samples / "invalid" / "OVG204" / "axis_3.xml"]
    process = subprocess.Popen(
        [COMMAND, "validate", *files, "--jobs", "2", "--format", "concise"], stdout=subprocess.PIPE, text=True
    )
    writer, reader = wait_for(lambda: open_pipe(tmp_path / "pipe.xml", process.pid))
    os.kill(reader, signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    os.close(writer)
    assert process.returncode == 1
    first, second, summary = output.splitlines()
    assert first == f"{tmp_path}/pipe.xml: error OVG099: the process that checked the file was killed by SIGKILL"
    assert ": error OVG204: " in second
    assert summary == "files: 3, errors: 2, warnings: 0, notes: 0"


def wait_for(attempt):
    deadline = time.monotonic() + 30
    while True:
        try:
            return attempt()
        except (OSError, StopIteration):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def open_pipe(pipe, ancestor):
    """Open a pipe for writing, and find the process that reads it; raises where no process does yet."""
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    return writer, next(
        process
        for process in descendants_of(ancestor)
        if pipe in [fd.readlink() for fd in Path(f"/proc/{process}/fd").iterdir()]
    )


def descendants_of(pid):
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield int(child)
        yield from descendants_of(child)


# ---- releases


OPSET_16 = "ir_samples/invalid/OVG708/gather_elements_of_opset16.xml"


def test_target(cli):
    done = cli("validate", OPSET_16, "--target", "2025.4.1")
    assert done.returncode == 1
    assert f"{OPSET_16}:20: error OVG708: GatherElements 'gather' (layer 2): GatherElements of opset16 came with" in done.stdout
    assert cli("validate", OPSET_16, "--target", "2026.0").returncode == 0
    assert cli("validate", OPSET_16, "--target", "2025.4", "--ignore", "OVG708").returncode == 0


def test_unknown_target(cli):
    done = cli("validate", OPSET_16, "--target", "2023.1")
    assert done.returncode == 2
    assert "'2023.1' is no release that ov-gather knows; there are 2024.6, 2025.0" in done.stderr


def test_target_in_pyproject(cli, samples, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.ov_gather]\ntarget = "2025.4"\n')
    assert cli("validate", samples.parent / OPSET_16, cwd=tmp_path).returncode == 1


def test_oldest(cli):
    files = (OPSET_16, "ir_samples/valid/gather_8.xml", "ir_samples/divergent/custom-operation/strings.xml", AXIS_3)
    done = cli("validate", *files, "--oldest")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{OPSET_16}: 2026.0: GatherElements of opset16 came with it, GatherElements 'gather' (layer 2), line 20",
        "ir_samples/valid/gather_8.xml: 2024.6 or older",
        "ir_samples/divergent/custom-operation/strings.xml: 2024.6 or older, with an extension for GatherElements of ov_gather",
        f"{AXIS_3}: 2024.6 or older",
    ]
    assert cli("validate", *files, "--oldest", "--jobs", "2").stdout == done.stdout


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("ir_samples/invalid/OVG001/empty.xml", "the file is empty, line 1"),
        ("ir_samples/invalid/OVG105/opset5.xml", "version='opset5' does not hold GatherElements, GatherElements 'gather'"),
    ],
)
def test_oldest_where_there_is_none(cli, path, reason):
    done = cli("validate", path, "--oldest")
    assert done.returncode == 1
    assert done.stdout.startswith(f"{path}: no release: {reason}")


@pytest.mark.parametrize("option", [("--target", "2025.4"), ("--format", "json"), ("--select", "OVG1"), ("--infer",)])
def test_oldest_refuses_options_about_findings(cli, option):
    done = cli("validate", OPSET_16, "--oldest", *option)
    assert done.returncode == 2
    assert f"--oldest prints no findings, which {option[0]} is about" in done.stderr

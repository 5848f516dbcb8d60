"""What `ov-gather validate` checks in which files, for which releases, and how it exits: every option, as a user runs it."""

import json
import os

import pytest

from ov_gather.rules.register import RULES

AXIS_3 = "ir_samples/invalid/OVG204/axis_3.xml"
INVALID = ("ir_samples/invalid/OVG203/fraction.xml", "ir_samples/invalid/OVG204", "ir_samples/invalid/OVG402/off_axis.xml")
DIVERGENT = (
    "ir_samples/divergent/narrowed-to-32-bits/beam_ids.xml",
    "ir_samples/divergent/negative-indices/onnx_page_3.xml",
    "ir_samples/divergent/no-dynamic-rank/dynamic_rank.xml",
)
CLEAN = "errors: 0, warnings: 0, notes: 0\n"


@pytest.fixture
def zoo(copied, tmp_path):
    """Two IRs, and XML files of other kinds."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    copied("valid/spec_layer", tmp_path / "deep" / "er", "model")
    copied("invalid/OVG204/axis_3", stem="broken")
    (tmp_path / "pom.xml").write_text("<project><modules/></project>")
    (tmp_path / "deep" / "list.xml").write_text('<!DOCTYPE plist SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY e "x">]><plist/>')
    return tmp_path


def rules(done):
    return {line.split(": ")[1].split()[1] for line in done.stdout.splitlines() if ".xml:" in line}


def test_invalid_samples(cli, samples):
    done = cli("validate", "ir_samples/invalid", "--infer", "--target", "2024.6", code=1)
    for path in (samples / "invalid").glob("*/*.xml"):
        place = f"ir_samples/invalid/{path.parent.name}/{path.name}:"
        found = [line for line in done.stdout.splitlines() if line.startswith(place)]
        assert any(f" {path.parent.name}: " in line for line in found), place
    assert done.stderr == ""


def test_help_of_every_command(real_cli):
    overview = real_cli("--help")
    assert overview.returncode == 0
    for name in ("check", "validate", "explain", "run", "convert", "bench"):
        assert name in overview.stdout
        done = real_cli(name, "--help", code=0)
        assert "Exit code: 0" in done.stdout
    real_cli("nonsense", code=2)


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
    assert (done.returncode, done.stdout) == (0, f"files: 6, {CLEAN}")


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize(
    ("name", "hint"),
    [("OVG2O4", "did you mean OVG204?"), ("ovg4", "did you mean OVG4?"), ("nonsense", "there are OVG0, OVG1,")],
)
def test_unknown_rules_are_refused(refusal, option, name, hint):
    told = refusal("validate", "ir_samples/valid", option, name)
    assert told.startswith(f"error: there is no rule or group '{name}'; {hint}")


def test_severities(cli):
    def run(*options):
        done = cli("validate", *DIVERGENT, *options, "--format", "concise")
        return done.returncode, len(rules(done)), done.stdout.splitlines()[-1]

    assert run() == (0, 3, "files: 3, errors: 0, warnings: 1, notes: 3")
    assert run("--fail-on", "warning") == (1, 3, "files: 3, errors: 0, warnings: 1, notes: 3")
    assert run("--min-severity", "warning") == (0, 1, "files: 3, errors: 0, warnings: 1, notes: 0")
    assert run("--min-severity", "error", "--fail-on", "warning") == (0, 0, "files: 3, errors: 0, warnings: 0, notes: 0")
    cli("validate", AXIS_3, "--fail-on", "never", code=0)


def test_statistics(cli, zoo):
    assert cli("validate", *INVALID, zoo, "--statistics").stdout.endswith(
        f"      1  OVG203  {RULES['OVG203'].summary}\n"
        f"      5  OVG204  {RULES['OVG204'].summary}\n"
        f"      1  OVG402  {RULES['OVG402'].summary}\n"
        "files: 8, errors: 7, warnings: 0, notes: 0, skipped: 2\n"
    )
    document = json.loads(cli("validate", *INVALID, zoo, "--statistics", "--format", "json").stdout)
    assert document["statistics"] == {"skipped": 2, "OVG203": 1, "OVG204": 5, "OVG402": 1}


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
def test_nothing_to_check(cli, refusal, tmp_path, option):
    (tmp_path / "pom.xml").write_text("<project/>")
    assert "there is nothing to do" in refusal("validate", tmp_path, *option)
    cli("validate", *option, code=2)
    cli("validate", tmp_path / "nowhere.xml", *option, code=2)


@pytest.mark.parametrize("damaged", [b"", b"\0", b"<net", b"\xff\xfe", b" " * 70_000 + b"<project/>"])
def test_a_damaged_file_is_never_skipped(cli, tmp_path, damaged):
    (tmp_path / "model.xml").write_bytes(damaged)
    cli("validate", tmp_path, "--skip-other-xml", code=1)


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
    cli("validate", AXIS_3, "--exclude", "invalid", code=2)


def test_a_file_counts_once(cli):
    assert cli("validate", AXIS_3, AXIS_3, "ir_samples/invalid/OVG204").stdout.endswith(
        "files: 4, errors: 4, warnings: 0, notes: 0\n"
    )


def test_standard_input(real_cli, samples):
    text = (samples / "valid" / "openvino_page_3.xml").read_text()
    done = real_cli("validate", "-", input=text)
    assert (done.returncode, done.stdout) == (0, f"files: 1, {CLEAN}")
    done = real_cli("validate", "-", "--format", "json", input=text.replace('axis="0"', 'axis="5"'), code=1)
    assert [(finding["rule"], finding["path"]) for finding in json.loads(done.stdout)["findings"]] == [("OVG204", "<stdin>")]
    assert "must stand alone" in real_cli("validate", "-", AXIS_3, input=text).stderr


def test_files_that_cannot_be_read(cli, tmp_path):
    (tmp_path / "broken_link.xml").symlink_to("nowhere")
    (tmp_path / "unreadable.xml").symlink_to("/proc/self/mem")  # for any user this file opens, and every read of it fails
    (tmp_path / "directory.xml").mkdir()
    os.mkfifo(tmp_path / "pipe.xml")
    done = cli("validate", tmp_path, code=1)
    assert done.stdout == (
        f"{tmp_path}/broken_link.xml: error OVG008: cannot be opened: No such file or directory\n"
        f"{tmp_path}/unreadable.xml: error OVG008: cannot be opened: Input/output error\n"
        "files: 2, errors: 2, warnings: 0, notes: 0\n"
    )


def test_a_bin_means_the_xml_beside_it(cli, copied, tmp_path):
    """The hook of pre-commit names the files that a commit changes, and no others."""
    copied("valid/gather_8", stem="m")
    (tmp_path / "other.bin").write_bytes(b"not of an IR")
    (tmp_path / "m.bin").write_bytes(b"")
    done = cli("validate", "m.bin", "other.bin", "--skip-other-xml", "--format", "concise", cwd=tmp_path, code=1)
    assert done.stdout.startswith("m.xml:")
    assert rules(done) == {"OVG502"}
    assert cli("validate", "m.bin", "m.xml", "--statistics", cwd=tmp_path).stdout.count("files: 1,") == 1
    done = cli("validate", "other.bin", "--skip-other-xml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"files: 0, {CLEAN}")
    cli("validate", "other.bin", cwd=tmp_path, code=1)


OPSET_16 = "ir_samples/invalid/OVG708/gather_elements_of_opset16.xml"


def test_target(cli):
    done = cli("validate", OPSET_16, "--target", "2025.4.1", code=1)
    assert f"{OPSET_16}:20: error OVG708: GatherElements 'gather' (layer 2): GatherElements of opset16 came with" in done.stdout
    cli("validate", OPSET_16, "--target", "2026.0", code=0)
    cli("validate", OPSET_16, "--target", "2025.4", "--ignore", "OVG708", code=0)


def test_unknown_target(refusal):
    told = refusal("validate", OPSET_16, "--target", "2023.1")
    assert "'2023.1' is no release that ov-gather knows; there are 2024.6, 2025.0" in told


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_several_rules_in_one_option(cli, refusal, option):
    """As given one by one."""
    files = ("ir_samples/invalid/OVG203", "ir_samples/invalid/OVG204", "ir_samples/invalid/OVG402")
    at_once, one_by_one = (
        cli("validate", *files, *options, code=1).stdout
        for options in ([option, "OVG203, OVG4"], [option, "OVG203", option, "OVG4"])
    )
    assert at_once == one_by_one
    assert ("OVG204" in at_once) == (option == "--ignore")
    assert "there is no rule or group 'OVG9'" in refusal("validate", *files, option, "OVG4,OVG9")


def test_target_in_pyproject(cli, samples, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.ov_gather]\ntarget = "2025.4"\n')
    cli("validate", samples.parent / OPSET_16, cwd=tmp_path, code=1)


def test_oldest(cli):
    files = (OPSET_16, "ir_samples/valid/gather_8.xml", "ir_samples/divergent/custom-operation/strings.xml", AXIS_3)
    done = cli("oldest", *files)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{OPSET_16}: 2026.0: GatherElements of opset16 came with it, GatherElements 'gather' (layer 2), line 20",
        "ir_samples/valid/gather_8.xml: 2024.6 or older",
        "ir_samples/divergent/custom-operation/strings.xml: 2024.6 or older, with an extension for GatherElements of ov_gather",
        f"{AXIS_3}: 2024.6 or older",
    ]
    assert cli("oldest", *files, "--jobs", "2").stdout == done.stdout


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("ir_samples/invalid/OVG001/empty.xml", "the file is empty, line 1"),
        ("{}/m.onnx", "this is an ONNX model, no IR (`ov-gather convert` writes an IR of it), line 1\n"),
        ("ir_samples/invalid/OVG105/opset5.xml", "version='opset5' does not hold GatherElements, GatherElements 'gather'"),
    ],
)
def test_oldest_where_there_is_none(cli, tmp_path, path, reason):
    (tmp_path / "m.onnx").write_bytes(b"\x08\x09")
    path = path.format(tmp_path)
    done = cli("oldest", path, code=1)
    assert done.stdout.startswith(f"{path}: no release: {reason}")

"""`ov-gather validate`, as a user runs it."""

import shutil


def test_invalid_samples(cli, samples):
    done = cli("validate", "ir_samples/invalid", "--infer", "--target", "2024.6")
    assert done.returncode == 1
    for path in (samples / "invalid").glob("*/*.xml"):
        place = f"ir_samples/invalid/{path.parent.name}/{path.name}:"
        found = [line for line in done.stdout.splitlines() if line.startswith(place)]
        assert any(f" {path.parent.name}: " in line for line in found), place
    assert done.stderr == ""


def test_valid_samples(cli, samples):
    done = cli("validate", "ir_samples/valid")
    count = len(list((samples / "valid").glob("*.xml")))
    assert (done.returncode, done.stdout) == (0, f"files: {count}, errors: 0, warnings: 0, notes: 0\n")


def test_warnings_and_notes_do_not_fail(cli):
    done = cli("validate", "ir_samples/divergent")
    assert done.returncode == 0
    assert "warning OVG701" in done.stdout
    assert "note OVG702" in done.stdout


def test_a_finding_as_text(cli):
    done = cli("validate", "ir_samples/invalid/OVG204/axis_3.xml")
    assert done.stdout == (
        "ir_samples/invalid/OVG204/axis_3.xml:25: error OVG204: GatherElements 'gather' (layer 2): axis=3 is out of range\n"
        "    for these inputs it may be -3 to 2\n"
        "files: 1, errors: 1, warnings: 0, notes: 0\n"
    )


def test_an_unreadable_file_does_not_stop_the_others(cli, samples, tmp_path):
    shutil.copy(samples / "invalid" / "OVG001" / "empty.xml", tmp_path / "a.xml")
    shutil.copy(samples / "invalid" / "OVG204" / "axis_3.xml", tmp_path / "b.xml")
    done = cli("validate", tmp_path)
    assert done.returncode == 1
    assert "a.xml:1: error OVG001" in done.stdout
    assert "b.xml:25: error OVG204" in done.stdout


def test_bad_arguments(cli, refusal, tmp_path):
    assert cli("validate").returncode == 2
    assert cli("validate", tmp_path / "nowhere.xml").returncode == 2
    assert "there is nothing to do" in refusal("validate", tmp_path)


def test_help_of_every_command(real_cli):
    overview = real_cli("--help")
    assert overview.returncode == 0
    for name in ("check", "validate", "explain", "run", "convert", "bench"):
        assert name in overview.stdout
        done = real_cli(name, "--help")
        assert done.returncode == 0
        assert "Exit code: 0" in done.stdout
    assert real_cli("nonsense").returncode == 2

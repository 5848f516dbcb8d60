"""What `ov-gather validate` tells of releases of OpenVINO: what one lacks, and which is the oldest that will do."""

import pytest

AXIS_3 = "ir_samples/invalid/OVG204/axis_3.xml"


OPSET_16 = "ir_samples/invalid/OVG708/gather_elements_of_opset16.xml"


def test_target(cli):
    done = cli("validate", OPSET_16, "--target", "2025.4.1", code=1)
    assert f"{OPSET_16}:20: error OVG708: GatherElements 'gather' (layer 2): GatherElements of opset16 came with" in done.stdout
    cli("validate", OPSET_16, "--target", "2026.0", code=0)
    cli("validate", OPSET_16, "--target", "2025.4", "--ignore", "OVG708", code=0)


def test_unknown_target(refusal):
    told = refusal("validate", OPSET_16, "--target", "2023.1")
    assert "'2023.1' is no release that ov-gather knows; there are 2024.6, 2025.0" in told


def test_target_in_pyproject(cli, samples, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.ov_gather]\ntarget = "2025.4"\n')
    cli("validate", samples.parent / OPSET_16, cwd=tmp_path, code=1)


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
    done = cli("validate", path, "--oldest", code=1)
    assert done.stdout.startswith(f"{path}: no release: {reason}")


@pytest.mark.parametrize("option", [("--target", "2025.4"), ("--format", "json"), ("--select", "OVG1"), ("--infer",)])
def test_oldest_refuses_options_about_findings(refusal, option):
    assert f"--oldest prints no findings, which {option[0]} is about" in refusal("validate", OPSET_16, "--oldest", *option)

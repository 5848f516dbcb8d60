"""How a team adopts `ov-gather validate`: its baselines, also damaged ones, and findings that are silenced for a reason."""

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers.command_server import COMMAND
from helpers.exported_again import export_again
from ov_gather.rules import validation
from ov_gather.rules.baseline import read_baseline, write_baseline

KNOWN = (
    "divergent/narrowed-to-32-bits/beam_ids",
    "divergent/negative-indices/onnx_page_3",
    "invalid/OVG204/axis_3",
    "invalid/OVG204/axis_minus_4",
    "invalid/OVG203/letters",
    "invalid/OVG402/gather_batch_dims",
    "invalid/OVG402/custom_indices_exceed_data",
    "invalid/OVG601/too_large",
)
CLEAN = ("valid/loop", "valid/gather_8", "valid/if_bodies", "valid/spec_layer")
NOTHING_NEW = "files: 12, errors: 0, warnings: 0, notes: 0, suppressed: "


@pytest.fixture
def zoo(copied, tmp_path):
    """A repository with a dozen models, most of which have findings."""
    (tmp_path / "models").mkdir()
    for name in (*KNOWN, *CLEAN):
        copied(name, tmp_path / "models")
    return tmp_path


@pytest.fixture
def validate(cli, zoo):
    """A function that validates the models with some options, in the repository."""
    return lambda *options, cwd=zoo: cli("validate", zoo / "models", "--format", "concise", *options, cwd=cwd)


def configure(zoo, text):
    (zoo / "pyproject.toml").write_text(text)


def test_the_story_of_a_team(validate, zoo, samples):
    """Baseline, all models exported again with other ids, one new fault: exactly this one is reported."""
    baseline = ("--baseline", zoo / "known.json")
    assert validate().returncode == 1
    assert validate(*baseline, "--write-baseline").returncode == 0
    for path in (zoo / "models").glob("*.xml"):
        export_again(path, path)
    done = validate(*baseline)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(NOTHING_NEW)

    clean = zoo / "models" / "spec_layer.xml"
    clean.write_text(clean.read_text().replace('axis="1"', 'axis="7"'))
    done = validate(*baseline)
    assert done.returncode == 1
    (finding, summary) = done.stdout.splitlines()
    assert "spec_layer.xml" in finding
    assert "error OVG204" in finding
    assert "errors: 1, warnings: 0, notes: 0" in summary

    # Of known findings that were mended a word is said, and the next baseline leaves them out.
    shutil.copy(samples / "valid" / "spec_layer.xml", zoo / "models" / "axis_3.xml")
    shutil.copy(samples / "valid" / "spec_layer.xml", clean)
    done = validate(*baseline)
    assert (done.returncode, done.stderr) == (
        0,
        f"{zoo}/known.json: known findings that are gone: 1; --write-baseline leaves them out\n",
    )
    assert validate(*baseline, "--write-baseline").returncode == 0
    assert validate(*baseline).stderr == ""


def test_a_baseline_moves_with_the_models(validate, cli, zoo, tmp_path_factory):
    assert validate("--baseline", "known.json", "--write-baseline").returncode == 0
    elsewhere = tmp_path_factory.mktemp("moved") / "zoo"
    shutil.copytree(zoo, elsewhere)
    cli("validate", ".", "--baseline", "../known.json", cwd=elsewhere / "models", code=0)


def test_a_new_baseline_keeps_what_is_known_of_other_files(validate, cli, zoo):
    assert validate("--baseline", "known.json", "--write-baseline").returncode == 0
    before = (zoo / "known.json").read_bytes()
    cli("validate", "models/axis_3.xml", "--baseline", "known.json", "--write-baseline", cwd=zoo)
    assert (zoo / "known.json").read_bytes() == before
    (zoo / "models" / "axis_3.xml").unlink()
    cli("validate", "models/letters.xml", "--baseline", "known.json", "--write-baseline", cwd=zoo)
    assert b"axis_3" in before
    assert b"axis_3" not in (zoo / "known.json").read_bytes()


def test_two_alike_findings_are_two(cli, tmp_path, samples):
    """Where a second layer of the same name and attributes has the same fault, it is new."""
    text = (samples / "invalid" / "OVG204" / "axis_3.xml").read_text()
    (tmp_path / "m.xml").write_text(text)
    cli("validate", "m.xml", "--baseline", "b", "--write-baseline", cwd=tmp_path, code=0)
    start, end = text.index('<layer id="2"'), text.index("</layer>", text.index('<layer id="2"')) + len("</layer>")
    twin = text[start:end].replace('id="2"', 'id="22"')
    (tmp_path / "m.xml").write_text(text[:end] + twin + text[end:])
    done = cli("validate", "m.xml", "--baseline", "b", "--select", "OVG204", "--format", "concise", cwd=tmp_path, code=1)
    assert done.stdout.endswith("files: 1, errors: 1, warnings: 0, notes: 0, suppressed: 1\n")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"format": 2, "findings": []}', "known.json: format 2 of a baseline is not known, only 1; "),
        (None, "there is no baseline known.json; --write-baseline makes it"),
    ],
)
def test_a_baseline_that_cannot_be_used(validate, zoo, content, reason):
    if content is not None:
        (zoo / "known.json").write_bytes(content)
    done = validate("--baseline", "known.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    if content is not None:
        assert validate("--baseline", "known.json", "--write-baseline").returncode == 2
        assert (zoo / "known.json").read_bytes() == content


def test_a_baseline_of_other_files(validate, zoo, cli, samples):
    cli("validate", samples / "invalid" / "OVG203", "--baseline", "known.json", "--write-baseline", cwd=zoo)
    done = validate("--baseline", "known.json")
    assert done.returncode == 1
    assert done.stderr.startswith("known.json: knows none of the files that were checked; its paths start at ")


def test_write_baseline_needs_its_file(validate):
    done = validate("--write-baseline")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--write-baseline needs --baseline FILE" in done.stderr


IGNORES = """
[[tool.ov_gather.per-file-ignores]]
path = "models/axis_*.xml"
rules = ["OVG2"]
reason = "old exporter"

[[tool.ov_gather.per-layer-ignores]]
layer = "gath*"
type = "Gather"
rules = ["OVG402"]
reason = "the runtime pads"

[[tool.ov_gather.per-file-ignores]]
path = "no_such.xml"
rules = ["OVG601"]
reason = "gone"
"""


def test_ignores_suppress_for_a_reason(validate, zoo):
    configure(zoo, IGNORES)
    done = validate("--verbose", cwd=zoo / "models")
    suppressed = sorted(line.split("/")[-1].split(":")[0] for line in done.stdout.splitlines() if "(suppressed: " in line)
    assert suppressed == ["axis_3.xml", "axis_minus_4.xml", "gather_batch_dims.xml"]
    assert done.stdout.count("(suppressed: old exporter)") == 2
    assert done.stdout.count("(suppressed: the runtime pads)") == 1
    assert done.stderr == f"{zoo}/pyproject.toml: an ignore suppresses nothing: OVG601 for path 'no_such.xml'\n"
    assert "(suppressed" not in validate().stdout
    assert validate("--select", "OVG2").stderr == ""  # because OVG601 was not checked


def test_suppressed_findings_in_reports_for_programs(validate, zoo):
    configure(zoo, IGNORES)
    document = json.loads(validate("--format", "json").stdout)
    assert sorted({entry["reason"] for entry in document["suppressed"]}) == ["old exporter", "the runtime pads"]
    fingerprints = {entry["fingerprint"] for entry in document["suppressed"]}
    (run,) = json.loads(validate("--format", "sarif").stdout)["runs"]
    silenced = [result for result in run["results"] if "suppressions" in result]
    assert {result["partialFingerprints"]["ovGather/v1"] for result in silenced} == fingerprints
    assert {result["suppressions"][0]["justification"] for result in silenced} == {"old exporter", "the runtime pads"}
    assert len(silenced) + len(document["findings"]) == len(run["results"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("per-file-ignores = 1", "[tool.ov_gather] per-file-ignores must be an array of tables"),
        ("per-file-ignores = [{path = '*', rules = ['OVG2']}]", "needs reason"),
        ("per-file-ignores = [{path = '*', reason = 'x'}]", "needs rules"),
        ("per-file-ignores = [{rules = ['OVG2'], reason = 'x'}]", "needs path"),
        ("per-layer-ignores = [{rules = ['OVG2'], reason = 'x', path = '*'}]", "needs layer or type"),
        ("per-file-ignores = [{path = '*', rules = ['OVG2'], reason = ''}]", "reason must be a string, not ''"),
        ("per-file-ignores = [{path = '*', rules = 'OVG2', reason = 'x'}]", "rules must be an array of rules and groups"),
        ("per-file-ignores = [{path = '*', rules = ['OVG2O4'], reason = 'x'}]", "did you mean OVG204?"),
        (
            "per-file-ignores = [{layer = '*', rules = ['OVG2'], reason = 'x'}]",
            "layer is unknown; there are rules, reason, path",
        ),
    ],
)
def test_mistakes_in_ignores_are_named(validate, zoo, text, reason):
    configure(zoo, f"[tool.ov_gather]\n{text}")
    done = validate()
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{zoo}/pyproject.toml: [" in done.stderr
    assert reason in done.stderr


BROKEN = "invalid/OVG204/axis_3.xml"


def test_two_writers_lose_nothing(samples, tmp_path):
    """Each of 8 processes writes the findings of its own files, one after the other."""
    files = [tmp_path / f"{number}.xml" for number in range(24)]
    for file in files:
        shutil.copy(samples / BROKEN, file)
    baseline = tmp_path / "baseline.json"

    def write(part: list[Path]) -> int:
        command = [COMMAND, "validate", *part, "--baseline", baseline, "--write-baseline"]
        return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(write, [files[start::8] for start in range(8)])) == {0}
    assert set(read_baseline(baseline).known) == {file.name for file in files}


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    "content",
    [
        "[" * 200_000,
        '{"a":' * 200_000,
        "[]",
        "null",
        '{"format": 1}',
        '{"format": 1, "findings": [1]}',
        '{"format": 1, "findings": [{"path": 5, "rule": "OVG204", "layer": "", "fingerprint": "0"}]}',
        '{"format": 1, "findings": [{"path": [], "rule": "OVG204", "layer": "", "fingerprint": "0"}]}',
        '{"format": 1e999, "findings": []}',
        "\udcff",
    ],
)
@pytest.mark.parametrize("option", [[], ["--write-baseline"]])
def test_damaged_baselines(cli, samples, tmp_path, content, option):
    path = tmp_path / "baseline.json"
    path.write_text(content, errors="surrogateescape")
    done = cli("validate", samples / BROKEN, "--baseline", path, *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert "after moving this one away" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_text(errors="surrogateescape") == content


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "../" * 3000, "\ud800", ""])
def test_odd_paths_in_a_baseline(samples, tmp_path, name):
    path = tmp_path / "baseline.json"
    entry = {"path": name, "rule": "OVG204", "layer": "", "fingerprint": "0"}
    path.write_text(json.dumps({"format": 1, "findings": [entry]}))
    write_baseline(path, [str(samples / BROKEN)], validation.validate(samples / BROKEN))
    assert read_baseline(path).known


def test_what_was_not_checked_is_not_known(tmp_path, cli, samples, monkeypatch):
    from ov_gather.cli import suppressions

    with pytest.raises(ValueError, match=r"baseline.json is not written: m.xml: the check failed"):
        suppressions.write(tmp_path / "baseline.json", ["m.xml"], validation.not_checked("m.xml", "the check failed", ""))
    assert not (tmp_path / "baseline.json").exists()


def test_a_device_is_no_baseline(cli, samples):
    done = cli("validate", samples / BROKEN, "--baseline", "/dev/zero")
    assert (done.returncode, done.stderr) == (2, "error: /dev/zero is not a regular file\n")

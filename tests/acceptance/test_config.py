"""`[tool.ov_gather]` in pyproject.toml."""

import json

import pytest


@pytest.fixture
def project(cli, copied, tmp_path):
    """Runs `ov-gather validate` in a directory below a pyproject.toml with the given text."""
    directory = tmp_path / "models"
    directory.mkdir()
    for sample in ("invalid/OVG203/letters", "invalid/OVG204/axis_3", "valid/spec_layer"):
        copied(sample, directory)
    (directory / "other.xml").write_text("<project/>")

    def run(text, *arguments):
        (tmp_path / "pyproject.toml").write_text(text)
        return cli("validate", *arguments, cwd=directory)

    return run


def test_options_by_their_long_names(project):
    done = project(
        """
        [tool.ov_gather]
        format = "json"
        select = ["OVG2"]
        ignore = ["OVG203"]
        exclude = ["spec_*"]
        min-severity = "warning"
        fail-on = "never"
        skip-other-xml = true
        statistics = true
        jobs = 2
        """,
        ".",
        "other.xml",
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["files"] == 2
    assert document["statistics"] == {"skipped": 1, "OVG204": 1}


def test_the_command_line_wins(project):
    text = '[tool.ov_gather]\nselect = ["OVG203"]\nformat = "json"\nstatistics = true\nfail-on = "never"\n'
    done = project(text, ".", "--select", "OVG204", "--format", "text", "--no-statistics", "--fail-on", "error")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("axis_3.xml:25: error OVG204")
    assert done.stdout.splitlines()[-1] == "files: 3, errors: 1, warnings: 0, notes: 0"


def test_the_nearest_file_counts(project, tmp_path):
    (tmp_path / "models" / "pyproject.toml").write_text('[tool.other]\nname = "x"\n')
    assert project('[tool.ov_gather]\nfail-on = "never"\n', ".").returncode == 1


@pytest.mark.parametrize("text", ["", "[tool]\nother = 1\n", "not TOML, but also none of our business", "[tool.ov_gather]\n"])
def test_without_a_table_of_ours(project, text):
    assert project(text, ".").stdout.endswith("files: 3, errors: 2, warnings: 0, notes: 0\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "selct = ['OVG2']",
            "[tool.ov_gather] selct is unknown; there are baseline, cache, color, exclude, fail-on, format, ignore, ",
        ),
        ("select = 'OVG2'", "[tool.ov_gather] select must be an array of strings, not 'OVG2'"),
        ("select = [2]", "[tool.ov_gather] select must be an array of strings, not [2]"),
        ("statistics = 'no'", "[tool.ov_gather] statistics must be true or false, not 'no'"),
        ("jobs = true", "[tool.ov_gather] jobs must be a whole number, not True"),
        ("jobs = 0", "[tool.ov_gather] jobs: 0 is not in the range 1<=x<=1024"),
        ("format = ['json']", "[tool.ov_gather] format must be a string, not ['json']"),
        ("format = 'yaml'", "[tool.ov_gather] format: 'yaml' is not one of 'text', 'concise',"),
        ("select = [", ""),
        (f"select = {'[' * 9999}", "nested too deeply"),
    ],
)
def test_mistakes_are_named(project, tmp_path, text, reason):
    done = project(f"[tool.ov_gather]\n{text}", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Error: {tmp_path}/pyproject.toml: {reason}" in done.stderr


def test_an_unknown_rule_is_refused(project):
    done = project("[tool.ov_gather]\nignore = ['OVG2O3']", ".")
    assert (done.returncode, done.stderr) == (2, "error: there is no rule or group 'OVG2O3'; did you mean OVG203?\n")


def test_not_a_table(project):
    assert "tool.ov_gather must be a table" in project("[tool]\nov_gather = 1", ".").stderr


def test_help_works_beside_a_broken_file(project):
    assert project("[tool.ov_gather", "--help").returncode == 0

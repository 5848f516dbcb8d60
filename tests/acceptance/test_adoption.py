"""What contributors and other repositories use: nox, the workflow, the pre-commit hook, the GitHub Action, snippets."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from helpers.paths import ROOT
from ov_gather.cli import COMMANDS, group
from tools import release

BIN = Path(sys.executable).parent
HOWTO = ROOT / "docs" / "howto"
NAMES = ("validate_models", "validate_in_ci", "validate_in_other_ci", "adopt_with_a_baseline")
PAGE = "".join((HOWTO / f"{name}.md").read_text() for name in NAMES)
SNIPPETS = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)


PYTHON_OF_ACTION = "${{ steps.python.outputs.python-path }}"
EVIL = "from pathlib import Path\nPath('pwned').touch()\n"


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)


@pytest.mark.exhaustive
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the hook is installed from a git repository")
def test_pre_commit_hook(tmp_path):
    """pre-commit builds the package from the repository, as for every user of the hook, without the C++."""
    clone = tmp_path / "clone"
    assert run("git", "clone", "--quiet", ROOT, clone).returncode == 0
    (clone / "pom.xml").write_text("<project/>")
    files = [*sorted(clone.glob("ir_samples/valid/*.xml")), clone / "pom.xml"]
    revision = run("git", "rev-parse", "HEAD", cwd=clone).stdout.strip()
    hook = {"repo": str(clone), "rev": revision, "hooks": [{"id": "ov-gather-validate"}]}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"repos": [hook]}))
    options = {"cwd": clone, "env": {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}}
    config = ("--config", tmp_path / "config.yaml")
    installed = run(BIN / "pre-commit", "install-hooks", *config, **options)  # sets fewer variables than `run`
    assert installed.returncode == 0, installed.stdout
    done = run(BIN / "pre-commit", "run", *config, "--verbose", "--files", *files, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ov-gather validate" in done.stdout
    assert "Passed" in done.stdout
    checked = [int(count) for count in re.findall(r"files: (\d+), errors: 0", done.stdout)]
    assert sum(checked) == len(files) - 1
    assert list((tmp_path / "home").rglob("ov_gather/cli"))
    (clone / "ir_samples" / "valid" / "gather_8.bin").write_bytes(b"")
    shutil.copy(clone / "ir_samples" / "invalid" / "OVG204" / "axis_3.xml", clone / "--ops=evil.xml")
    (clone / "evil.xml").write_text(EVIL)
    for commit in (["--files", "ir_samples/valid/gather_8.bin"], []):
        run("git", "add", ".", cwd=clone)
        done = run(BIN / "pre-commit", "run", *config, *commit, **options)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "ir_samples/valid/gather_8.xml" in done.stdout
    assert "\n--ops=evil.xml:25: error OVG204" in done.stdout
    assert not (clone / "pwned").exists()
    assert not [*(tmp_path / "home").rglob("_native*.so"), *(tmp_path / "home").rglob("openvino")]


def test_the_command_of_the_hook(cli, samples, tmp_path, monkeypatch):
    """It takes the files that its pattern selects, passes over what is no IR, and finds the IR of a .bin that changed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *arguments = hook["entry"].split()
    assert (hook["language"], program) == ("python", "ov-gather")
    folder = shutil.copytree(samples / "valid", tmp_path / "valid")
    for name in ("pom.xml", "README.md"):
        (folder / name).write_text("<project/>")
    files = [path.name for path in sorted(folder.iterdir()) if re.search(hook["files"], path.name)]
    models = [name for name in files if name.endswith(".xml") and name != "pom.xml"]
    assert "README.md" not in files
    done = cli(*arguments, *files, cwd=folder, code=0)
    assert f"files: {len(models)}, errors: 0" in done.stdout
    (folder / "gather_8.bin").write_bytes(b"")
    assert "gather_8.xml" in cli(*arguments, "gather_8.bin", cwd=folder, code=1).stdout


@pytest.fixture
def evil_names(samples, tmp_path, monkeypatch):
    """Make a directory of IRs with a finding, each named like an option of ours, the working directory; return the names."""
    folder = tmp_path / "committed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("evil.xml").write_text(EVIL)
    commands = [group.get_command(click.Context(group), name) for name in COMMANDS]
    options = [name for command in commands for option in command.params for name in (*option.opts, *option.secondary_opts)]
    names = [f"{name}=evil.xml" for name in sorted({"-h", "--help", "--version", *options}) if name.startswith("-")]
    assert {"--ops=evil.xml", "--extension=evil.xml", "-o=evil.xml"} <= {*names}
    for name in names:
        shutil.copy(samples / "invalid" / "OVG204" / "axis_3.xml", name)
    return names


def test_the_hook_takes_file_names_as_data(cli, evil_names, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    _, *arguments = hook["entry"].split()
    done = cli(*arguments, *evil_names, cwd=Path.cwd(), code=1)
    assert [line.partition(":")[0] for line in done.stdout.splitlines() if "error OVG204" in line] == evil_names
    assert not Path("pwned").exists()
    assert "options stand before it" in cli(*arguments, "--select", "OVG2", *evil_names, cwd=Path.cwd(), code=2).stderr


def test_our_own_hooks_take_file_names_as_data():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    for hook in repository["hooks"]:
        assert hook["entry"].endswith(" --") == hook.get("pass_filenames", True), hook["id"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("vendor.github-actions", (ROOT / "action.yml").read_text()),
        ("vendor.github-workflows", SNIPPETS[0]),
        ("vendor.gitlab-ci", SNIPPETS[1]),
    ],
)
def test_public_schemas(tmp_path, schema, text):
    (tmp_path / "file.yml").write_text(text)
    done = run(BIN / "check-jsonschema", "--builtin-schema", schema, tmp_path / "file.yml")
    assert done.returncode == 0, done.stdout


def test_snippets_name_what_is_there():
    workflow, gitlab, pre_commit = map(yaml.safe_load, SNIPPETS)
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    _, ours, upload = workflow["jobs"]["validate"]["steps"]
    assert set(ours["with"]) <= set(action["inputs"])
    assert upload["with"]["sarif_file"] == action["inputs"]["output"]["default"]
    assert gitlab["validate-models"]["artifacts"]["reports"]["junit"] in gitlab["validate-models"]["script"][1]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    address, version = release.settings()["project"]["urls"]["Repository"], release.version()
    assert pre_commit["repos"] == [{"repo": address, "rev": f"v{version}", "hooks": [{"id": hook["id"]}]}]
    assert ours["uses"] == f"{address.removeprefix('https://github.com/')}@v{version}"
    assert gitlab["validate-models"]["script"][0] == f"pip install ov-gather=={version}"


def test_wheels_are_tried_by_commands_that_their_system_has():
    config = release.settings()["tool"]["cibuildwheel"]
    for system in ("linux", "macos", "windows"):
        commands = config[system].get("test-command", config["test-command"])
        assert any("native.load()" in command for command in commands)
        assert any("ov-gather check " in command for command in commands) == (system != "windows")


@pytest.fixture
def action(tmp_path):
    """A function that runs the last step of the action, script and environment, with our own command for the installed one."""
    (tmp_path / "ov-gather").mkdir()
    (tmp_path / "ov-gather" / "bin").symlink_to(BIN)
    definition = yaml.safe_load((ROOT / "action.yml").read_text())
    step = definition["runs"]["steps"][-1]

    def run_step(cwd=ROOT, **inputs):
        given = {name: entry["default"] for name, entry in definition["inputs"].items()} | inputs
        environment = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], text).replace(
                PYTHON_OF_ACTION, sys.executable
            )
            for name, text in step["env"].items()
        }
        # The runner starts `shell: bash` like this.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        runner = {
            "RUNNER_TEMP": tmp_path,
            "GITHUB_OUTPUT": tmp_path / "outputs",
            "GITHUB_STEP_SUMMARY": tmp_path / "summary.md",
        }
        return run(*command, cwd=cwd, env=os.environ | environment | {name: str(value) for name, value in runner.items()})

    return run_step


def test_action_installs_itself_for_itself():
    definition = yaml.safe_load((ROOT / "action.yml").read_text())
    assert definition["runs"]["using"] == "composite"
    python, install, cache, _ = definition["runs"]["steps"]
    assert python["uses"].startswith("actions/setup-python@")
    assert python["with"]["update-environment"] is False
    assert "$GITHUB_ACTION_PATH" in install["run"]
    assert cache["uses"].startswith("actions/cache@")
    assert cache["with"]["key"].startswith(cache["with"]["restore-keys"])
    assert not any("${{" in step["run"] for step in definition["runs"]["steps"] if "run" in step)


def test_action_annotates(action):
    done = action(
        paths="ir_samples/invalid/OVG203/fraction.xml\nir_samples/invalid/OVG204\n", args="--select OVG204  --fail-on never"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("::error file=ir_samples/invalid/OVG204/") == 4
    assert done.stdout.endswith("files: 5, errors: 4, warnings: 0, notes: 0, unchanged: 0\n")


def test_action_takes_args_of_several_lines(action):
    arguments = "--select OVG204\n--fail-on never\n\n  --statistics\n"
    done = action(paths="ir_samples/invalid/OVG203\nir_samples/invalid/OVG204", args=arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {*re.findall(r"title=(OVG\d+)::", done.stdout)} == {"OVG204"}
    assert "skipped" in done.stdout


def test_action_skips_what_has_not_changed(action, tmp_path):
    """The place that the action takes from earlier runs is where the command keeps what it finds."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (kept,) = (step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/cache@"))
    first, second = (action(paths="ir_samples/invalid/OVG204", args="--fail-on never") for _ in range(2))
    assert second.stdout == first.stdout.replace("unchanged: 0", "unchanged: 4")
    assert Path(kept.replace("${{ runner.temp }}", str(tmp_path)), "CACHEDIR.TAG").exists()


def test_action_fails_on_findings_and_takes_inputs_as_data(action, tmp_path):
    assert action(paths="ir_samples/invalid").returncode == 1
    done = action(paths="$(touch pwned); `touch pwned` --help", args="")
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert not (ROOT / "pwned").exists()


def test_action_takes_file_names_as_data(action, evil_names):
    """Also those of options that stop the command before it reads pyproject.toml."""
    Path("pyproject.toml").write_text('[tool.ov_gather]\nfail-on = "never"\n')
    done = action(cwd=Path.cwd(), paths="\n".join([*evil_names, "--help", "-h"]))
    assert done.returncode == 2
    assert "Path '--help' does not exist" in done.stderr
    for name in ("--help", "-h"):
        Path(name).mkdir()
        shutil.copy("--help=evil.xml", Path(name, "model.xml"))
    done = action(cwd=Path.cwd(), paths="\n".join([*evil_names, "--help", "-h"]))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("title=OVG204::") == len(evil_names) + 2
    assert not Path("pwned").exists()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("format_", ["github", "sarif"])
def test_action_lists_findings_in_the_summary_of_the_job(action, tmp_path, format_):
    summary = tmp_path / "summary.md"
    summary.write_text("of an earlier step\n")
    done = action(paths="ir_samples/invalid/OVG204", format=format_, output=str(tmp_path / "out.sarif"), args="--select OVG204")
    assert done.returncode == 1
    before, heading, _, *table = summary.read_text().splitlines()
    assert (before, heading) == ("of an earlier step", "### ov-gather: files: 4, errors: 4, warnings: 0, notes: 0")
    assert sum("error OVG204" in row for row in table) == 4
    assert "<table>" not in done.stdout
    assert action(paths="no such file", format=format_).returncode == 2
    assert len(summary.read_text().splitlines()) == 3 + len(table)


def test_action_tells_later_steps_what_it_found(action, tmp_path):
    outputs = yaml.safe_load((ROOT / "action.yml").read_text())["outputs"]
    assert action(paths="ir_samples/invalid/OVG204").returncode == 1
    told = dict(line.split("=", 1) for line in (tmp_path / "outputs").read_text().splitlines())
    assert {name: f"${{{{ steps.validate.outputs.{name} }}}}" for name in told} == {
        name: output["value"] for name, output in outputs.items()
    }
    assert told["findings"] == "4"
    assert len(json.loads(Path(told["report"]).read_text())["findings"]) == 4


def test_action_takes_globs(action):
    done = action(paths="ir_samples/invalid/OVG20[34]/*.xml\nir_samples/**/onnx_page_1.xml", args="--fail-on never")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("title=OVG204::") == 4
    assert action(paths="ir_samples/no*.xml").returncode == 2


def test_action_writes_sarif(action, tmp_path):
    done = action(paths="ir_samples/divergent", format="sarif", output=str(tmp_path / "out.sarif"))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"


def test_the_toml_snippet_is_accepted(samples, tmp_path):
    text = "".join(re.findall(r"```toml\n(.*?)```", PAGE, re.S))
    (tmp_path / "pyproject.toml").write_text(text)
    done = run(BIN / "ov-gather", "validate", samples / "divergent", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "OVG701" in done.stdout
    assert "OVG702" not in done.stdout


def test_contributing_names_the_sessions_of_nox():
    done = run(BIN / "nox", "--list", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    sessions = set(re.findall(r"^[*-] (\w+)", done.stdout, re.M))
    assert sessions == {"lint", "types", "tests", "sanitizers", "docs", "bench", "release"}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert set(re.findall(r"nox -s (\w+)", text)) == sessions


@pytest.mark.parametrize(
    ("command", "file"), [("validate-config", ".pre-commit-config.yaml"), ("validate-manifest", ".pre-commit-hooks.yaml")]
)
def test_pre_commit_accepts_our_files(command, file):
    done = run(BIN / "pre-commit", command, ROOT / file, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["ci", "nightly", "release"])
def test_the_workflows_are_valid_and_run_what_is_there(name):
    workflow = ROOT / ".github" / "workflows" / f"{name}.yml"
    done = run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    commands = [
        step["run"] for job in yaml.safe_load(workflow.read_text())["jobs"].values() for step in job["steps"] if "run" in step
    ]
    scripts = re.findall(r"^(?:python )?(\.ci/\w+|tests/\S+\.py)(.*)", "\n".join(commands), re.M)
    helps = [(ROOT.joinpath(script).read_text(), arguments) for script, arguments in scripts]
    for arguments in re.findall(r"^pytest(.*)", "\n".join(commands), re.M):
        helps.append((run(sys.executable, "-m", "pytest", "--help", cwd=ROOT).stdout, arguments))
    for text, arguments in helps:
        assert [option for option in re.findall(r"--[\w-]+", arguments) if not re.search(rf"{option}(?![\w-])", text)] == []
    assert {"ci": ".ci/run", "nightly": "pytest --all -n 2", "release": "nox --error-on-missing-interpreters -s release"}[
        name
    ] in commands


def test_workflows_and_the_action_can_be_trusted():
    """Actions are pinned by their hashes, none keeps credentials or has more rights than it uses, and inputs are data."""
    files = [
        *(ROOT / ".github" / "workflows").glob("*.yml"),
        ROOT / "action.yml",
        *ROOT.glob("docs/custom_layer/.github/*/*.yml"),
    ]
    assert len(files) == 5
    done = run(BIN / "zizmor", "--offline", "--quiet", *files, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_workflows_are_what_github_accepts():
    """Expressions, contexts, outputs and shells of the workflows. actionlint is a program in Go: Debian and PyPI lack it."""
    if not (actionlint := shutil.which("actionlint")):
        pytest.skip("needs actionlint: https://github.com/rhysd/actionlint")
    files = [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("docs/custom_layer/.github/workflows/*.yml")]
    done = run(actionlint, *files, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.exhaustive  # installs
def test_the_image_holds_what_validation_needs(tmp_path):
    """The packages that the Dockerfile installs are enough, without others; with 55 MB of Debian's Python they are its size."""
    command = re.search(r"^RUN (SKBUILD.* pip .*) --target /packages /src$", (ROOT / "Dockerfile").read_text(), re.M)[1]
    packages, models = tmp_path / "packages", ROOT / "ir_samples" / "invalid" / "OVG204"
    install = command.replace("python3", sys.executable, 1)
    subprocess.run(["bash", "-c", f"{install} --quiet --target {packages} {ROOT}"], check=True)
    assert sum(path.stat().st_size for path in packages.rglob("*")) < 95e6
    assert not (packages / "openvino").exists()
    alone = {"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    done = run(sys.executable, "-S", "-m", "ov_gather", "validate", models, env=alone, cwd=tmp_path)
    assert (done.returncode, "errors: 4" in done.stdout) == (1, True), done.stderr


@pytest.mark.parametrize(
    ("tag", "heading", "error"),
    [
        ("v1.2.3", "1.2.3 (2026-11-28)", ""),
        ("1.2.3", "1.2.3 (2026-11-28)", "tag v1.2.3, or change the version"),
        ("v1.2.3", "1.2.3 (unreleased)", "write the date"),
        ("v1.2.3", "1.2.4 (2026-11-28)", "has no section '## 1.2.3 (DATE)'"),
    ],
)
def test_a_release_has_its_section_of_the_changelog(tag, heading, error):
    changelog = f"# Changes\n\n## {heading}\n\n- New.\n\n## 1.2.2 (2025-01-01)\n\n- Old.\n"
    if error:
        with pytest.raises(release.ReleaseError, match=re.escape(error)):
            release.notes(changelog, tag, "1.2.3")
    else:
        assert release.notes(changelog, tag, "1.2.3") == "- New.\n"


@pytest.mark.exhaustive
@pytest.mark.skipif(subprocess.run("python3.12 -V", shell=True, check=False).returncode != 0, reason="needs Python 3.12")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a release is made from a git repository")
def test_a_release_is_made_and_holds(tmp_path):
    clone = tmp_path / "clone"
    assert run("git", "clone", "--quiet", ROOT, clone).returncode == 0
    done = run(BIN / "nox", "--error-on-missing-interpreters", "-s", "release", cwd=clone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.suffix for path in (clone / "dist").iterdir()) == [".gz", ".whl"]


@pytest.mark.parametrize("name", ["sanitizers", "lint", "types"])
def test_ci_and_nox_run_the_same_scripts(name):
    assert re.search(rf"^(quietly \w+ )?\.ci/{name}( &)?$", (ROOT / ".ci" / "run").read_text(), re.M)
    assert f'session.run(".ci/{name}"' in (ROOT / "noxfile.py").read_text()


def test_nox_builds_the_site():
    assert 'session.run(".ci/docs"' in (ROOT / "noxfile.py").read_text()

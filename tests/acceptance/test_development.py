"""What contributors use: nox, pre-commit, the workflow. CONTRIBUTING.md names what is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from helpers.paths import ROOT

BIN = Path(sys.executable).parent


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, cwd=ROOT)


def test_contributing_names_the_sessions_of_nox():
    done = run(BIN / "nox", "--list")
    assert done.returncode == 0, done.stderr
    sessions = set(re.findall(r"^[*-] (\w+)", done.stdout, re.M))
    assert sessions == {"lint", "types", "tests", "sanitizers", "docs", "bench"}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert set(re.findall(r"nox -s (\w+)", text)) == sessions


def test_pre_commit_accepts_the_configuration():
    done = run(BIN / "pre-commit", "validate-config", ROOT / ".pre-commit-config.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_calls_the_script_of_ci():
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    done = run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow)
    assert done.returncode == 0, done.stdout
    (job,) = yaml.safe_load(workflow.read_text())["jobs"].values()
    assert job["steps"][-1]["run"] == ".ci/run"


@pytest.mark.parametrize("name", ["sanitizers", "lint", "types"])
def test_ci_and_nox_run_the_same_scripts(name):
    assert f"\n.ci/{name}\n" in (ROOT / ".ci" / "run").read_text()
    assert f'session.run(".ci/{name}"' in (ROOT / "noxfile.py").read_text()

"""docs/howto/serve.md: its commands for C++ build the host with the guard as a header, and the host refuses bad requests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ov_gather
from helpers.paths import ROOT

SERVING = ROOT / "docs" / "serving"
PAGE = (ROOT / "docs" / "howto" / "serve.md").read_text()

pytestmark = pytest.mark.openvino


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """A call of the program that the page builds, on some indices."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    folder = tmp_path_factory.mktemp("host")
    for name in ("ir_samples", "docs"):
        (folder / name).symlink_to(ROOT / name)
    commands = re.search(r"## C\+\+\n.*?```sh\n(.*?)```", PAGE, re.S)[1].replace(
        "-std=c++17", "-std=c++17 -Wall -Wextra -Werror"
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    options = {"capture_output": True, "text": True, "timeout": 300, "check": False, "cwd": folder}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], env={**os.environ, "PATH": path}, **options)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 1 20 21 "), done.stderr

    def call(*indices):
        program = [folder / "host", ov_gather.extension_path(), "safe.xml", *indices]
        return subprocess.run(list(map(str, program)), **options)

    return call


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("indices", "rows"), [([2, -3], "20 21 0 1 "), ([1] * 40, "10 11 " * 40), ([], "")])
def test_the_host_looks_up_rows(host, indices, rows):
    done = host(*indices)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{rows}\n", "")


@pytest.mark.parametrize("index", [3, -4, 2**31, 2**32, 2**32 + 1, 2**63 - 1, -(2**63)])
def test_the_host_refuses_an_index(host, index):
    done = host(0, index, 1)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"indices[0, 1] = {index} is out of bounds (valid -3..2): Gather 'gather_8_open_sizes' needs "
    )


def test_the_example_on_paper_says_so():
    text = (SERVING / "model_server.sh").read_text()
    assert text.startswith("# On paper: ")
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0

"""The installed kernel against naive loops in C++, through its C interface; .ci/sanitizers runs the same program."""

import shutil
import subprocess

import pytest

from helpers.paths import ROOT
from ov_gather.extension.installed import kernel

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def test_equals_naive_loops_in_cpp(tmp_path):
    library, program = kernel(), tmp_path / "kernel_test"
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-pthread", "-I", ROOT / "ov_gather" / "native" / "interface"]
    source = ROOT / "tests" / "native" / "kernel_test.cpp"
    subprocess.run(["g++", *flags, source, library, f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" cases\n") == 5

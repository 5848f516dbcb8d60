"""Every single fault of a large set is found: see mutations.py."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from helpers.paths import TOOLS

pytestmark = pytest.mark.slow


def test_every_mutation_is_found():
    done = subprocess.run([sys.executable, TOOLS / "mutations.py"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found, total = map(int, re.fullmatch(r"\n?(\d+) of (\d+) found\n", done.stdout).groups())
    assert found == total > 200

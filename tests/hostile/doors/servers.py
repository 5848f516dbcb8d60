"""`validate` on URLs of misbehaving servers: it ends within seconds, with one line per error and no secret in its output."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import numpy as np

from helpers.command_server import COMMAND
from helpers.web_server import BEHAVIOURS, misbehaving

TRIALS = 8
SECONDS = 60
TIMEOUT = 0.5
SECRET = "S3CR3T"
FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "markdown")
PATHS = ("{0}/m.xml", "{0}/", "{0}", "{0}/**/*.xml", "{0}/*/m.xml", "{0}/m.xml?X-Amz-Signature={1}&sig={1}", "{0}/m.xml#{1}")


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Validate a URL, which may hold a password or a signature, at a server of one behaviour."""
    with misbehaving() as address:
        host = address.replace("http://", f"http://user:{SECRET}@") if rng.integers(2) else address
        path = PATHS[rng.integers(len(PATHS))].format(BEHAVIOURS[rng.integers(len(BEHAVIOURS))], SECRET)
        command = [COMMAND, "validate", f"{host}/{path}", "--timeout", str(TIMEOUT)]
        command += ["--format", FORMATS[rng.integers(len(FORMATS))], "--jobs", str(rng.integers(1, 3))]
        start = time.monotonic()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
        seconds = time.monotonic() - start
    said = f"{command}\n{done.stdout}\n{done.stderr}"
    assert done.returncode in (1, 2), said  # none of them serves a model
    assert "Traceback" not in done.stderr, said
    assert SECRET not in done.stdout + done.stderr, said
    assert len(done.stderr.splitlines()) <= (4 if done.stderr.startswith("Usage: ") else 1), said
    assert seconds < 20 + 20 * TIMEOUT, f"{seconds:.1f} s: {said}"

"""Shell commands as a user types them, which install packages into a directory of their own."""

import os
import subprocess
import sys
from pathlib import Path


class Shell:
    """Runs commands with the programs of this environment; what pip installs goes to `site`, where Python finds it."""

    def __init__(self, site):
        self.site = Path(site)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "PIP_TARGET": str(site), "PYTHONPATH": str(site)}

    def __call__(self, command, folder):
        """Run commands in a folder; return all they say. A command that fails fails the test."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
            cwd=folder,
            env=self._environment,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

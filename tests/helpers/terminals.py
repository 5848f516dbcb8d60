"""Commands on a terminal, where they show colours and progress."""

import os
import pty
import subprocess

from helpers.command_server import COMMAND


def on_terminal(*arguments, **environment):
    """Run `ov-gather` on a terminal; return what it shows of stdout and stderr together."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", **environment}
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 1 << 16):
            seen += chunk
    except OSError:  # a terminal says like this that nobody writes to it any more
        pass
    os.close(ours)
    process.wait(timeout=60)
    return seen.decode()

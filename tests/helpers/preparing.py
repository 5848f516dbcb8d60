"""Commands that set limits or signals of their process before they begin.

`preexec_fn` of subprocess would fork the process of the tests. If Python collects an InferRequest in the fork, OpenVINO waits
for ever for threads that are not there, and the fork holds the pipes open by which pytest-xdist sees that a process has ended.
"""

import sys
from collections.abc import Iterable

_BECOME = "import os, resource, signal, sys; {}; os.execvp(sys.argv[1], sys.argv[1:])"


def prepared(statements: str, command: Iterable[object]) -> list[str]:
    """Return a command that executes statements of Python, with `resource` and `signal`, and becomes another command."""
    return [sys.executable, "-ISc", _BECOME.format(statements), *map(str, command)]

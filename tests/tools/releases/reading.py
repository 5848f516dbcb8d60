"""A script that tells which IRs one release of OpenVINO reads; `targets.py` runs it.

The question is a list of paths; the answer has for each "" where it is read, why it is refused, or "crashed".
"""

from __future__ import annotations

import json
import os
import sys

import openvino


def main() -> None:
    core = openvino.Core()
    json.dump([refusal(core, path) for path in json.load(sys.stdin)], sys.stdout)


def refusal(core: openvino.Core, path: str) -> str:
    """Why a model is refused, as a forked process tells."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            core.read_model(path)
            answer = "read"
        except RuntimeError as error:
            answer = str(error)
        os.write(writer, answer.encode()[-4000:])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, errors="replace") as pipe:
        answer = pipe.read()
    os.waitpid(process, 0)
    return {"read": "", "": "crashed"}.get(answer, answer)


if __name__ == "__main__":
    main()

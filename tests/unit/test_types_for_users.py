"""What a type checker tells the users of the package."""

import subprocess
import sys

import pytest

from helpers.paths import ROOT

TORCH = """
from typing import Any

class Tensor:
    def __array__(self, dtype: Any = None) -> Any: ...
    def __dlpack__(self, *, stream: Any = -1, max_version: tuple[int, int] | None = None) -> Any: ...
"""
PROGRAM = """
import numpy as np
import ov_gather
from numpy.typing import NDArray
from torch import Tensor

t: Tensor = Tensor()
a: NDArray[np.float32] = np.zeros((2, 2), np.float32)
tensors: list[Tensor] = [
    ov_gather.gather_elements(t, t, 1),
    ov_gather.gather(t, t, 1, bounds="zero"),
    ov_gather.gather_nd(t, t),
    ov_gather.scatter_elements(t, t, t, reduction="add"),
    ov_gather.scatter_nd(t, t, t),
    ov_gather.gather_scatter(t, t, t, 3),
    ov_gather.gather_elements(a, t, out=t),
]
arrays: list[NDArray[np.float32]] = [ov_gather.gather(a, [0]), ov_gather.scatter_nd(a, t, a, out=a)]
text: str = ov_gather.__version__
rules: list[str] = [finding.rule for finding in ov_gather.validate("model.xml")]
layers: list[str] = [proof.layer for proof in ov_gather.prove("model.xml")]
"""
WRONG = [
    ("ov_gather.nope", "attr-defined"),
    ("x: Tensor = ov_gather.gather(a, a)", "assignment"),
    ("ov_gather.gather_elements(t, t, out=3)", "call-overload"),
]


@pytest.mark.exhaustive
def test_tensors_stay_tensors_and_unknown_names_are_errors(tmp_path):
    (tmp_path / "torch.pyi").write_text(TORCH)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "\n".join(code for code, _ in WRONG))
    first = PROGRAM.count("\n") + 1
    options = ["--strict", "--follow-imports=silent", "--no-error-summary", "--hide-error-context", f"--cache-dir={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", *options, program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"MYPYPATH": f"{ROOT}:{tmp_path}", "PATH": ""},
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    places = [line.removeprefix(f"{program.name}:").partition(":")[0] for line in errors]
    kinds = [line.rpartition("[")[2].removesuffix("]") for line in errors]
    assert list(zip(places, kinds, strict=True)) == [(str(first + i), kind) for i, (_, kind) in enumerate(WRONG)], done.stdout

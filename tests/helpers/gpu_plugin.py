"""Models executed by the GPU plugin of OpenVINO on PoCL, in a process of its own."""

import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from helpers.paths import ROOT
from ov_gather.ir.model import Model
from ov_gather.ir.writer import to_bytes

_PROGRAM = """
import sys
from pathlib import Path
import numpy as np, openvino as ov

folder, *libraries = sys.argv[1:]
core = ov.Core()
for library in libraries:
    core.add_extension(library)
for path in sorted(Path(folder).glob("*.xml")):
    try:
        config = {"CONFIG_FILE": path.with_suffix(".config").read_text(), "INFERENCE_PRECISION_HINT": "f32"}
        compiled = core.compile_model(core.read_model(path), "GPU", config)
        executed = [node.get_rt_info()["layerType"].astype(str) for node in compiled.get_runtime_model().get_ops()]
        with np.load(path.with_suffix(".npz")) as inputs:
            cases = {}
            for name in inputs:
                cases.setdefault(name.split()[0], []).append(inputs[name])
        outputs = {case: compiled(arrays)[0] for case, arrays in cases.items()}
        np.savez(path.with_suffix(".outputs.npz"), **outputs, executed=executed)
    except RuntimeError as error:
        np.savez(path.with_suffix(".outputs.npz"), error=str(error))
"""


@dataclass(frozen=True)
class Execution:
    """A model, the configuration of kernels for it, and the inputs of each case."""

    model: Model
    config: Path
    cases: list[list[np.ndarray]]


def environment(folder: Path) -> dict[str, str]:
    """The environment of a process that finds a GPU: by the module in the template, as users get it."""
    path = ROOT / "docs" / "custom_layer" / "tests" / "cpu_as_gpu.py"
    spec = importlib.util.spec_from_file_location("cpu_as_gpu", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.environment(folder)


def execute(folder: Path, executions: list[Execution], *libraries: Path) -> list[dict[str, Any]]:
    """The outputs of each model by the number of the case, and the kinds of executed layers; or the error."""
    for number, one in enumerate(executions):
        files = folder / f"{number:03}.xml"
        xml, weights = to_bytes(one.model)
        files.write_bytes(xml)
        files.with_suffix(".bin").write_bytes(weights)
        files.with_suffix(".config").write_text(str(one.config))
        arrays = {f"{case} {port}": array for case, given in enumerate(one.cases) for port, array in enumerate(given)}
        np.savez(files.with_suffix(".npz"), **arrays)
    command = [sys.executable, "-c", _PROGRAM, str(folder), *map(str, libraries)]
    done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    return [dict(np.load(folder / f"{number:03}.outputs.npz")) for number in range(len(executions))]

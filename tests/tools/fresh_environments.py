"""Install ov-gather in new environments, one per release of OpenVINO: python tests/tools/fresh_environments.py RELEASE...

Without arguments: 2024.6.0, 2025.4.1, 2026.4.1, and "core", which has neither OpenVINO nor a compiler. Each takes minutes: it
installs, compiles the extension, and checks the samples. The exit code is 1 if a step fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
USE = """
import numpy as np, openvino as ov, ov_gather
from ov_gather.extension.python_api import opset13 as ops
data, indices = ops.parameter([64, 512, 16], np.float32), ops.parameter([64, 300, 16], np.int64)
model = ov.Model([ops.gather_elements(data, indices, 1)], [data, indices], "model")
ov_gather.accelerate(model)
assert [node for node in model.get_ops() if node.get_type_info().version_id == "ov_gather"]
request = ov_gather.register(ov.Core()).compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
table, where = np.random.rand(64, 512, 16).astype(np.float32), np.random.randint(-512, 512, (64, 300, 16))
def infer():
    for position, array in enumerate((table, where)):
        request.set_input_tensor(position, ov.Tensor(array))
    request.start_async()
    request.wait()
infer()
assert np.array_equal(request.get_output_tensor(0).data, np.take_along_axis(table, where % 512, 1))
where[3, 4, 5] = 512
try:
    infer()
except RuntimeError as error:
    assert "indices[3, 4, 5] = 512 is out of bounds for axis 1 of size 512" in str(error), error
else:
    raise SystemExit("an index out of bounds raises nothing")
"""


def run(what: str, expected: int, says: str, command: list[object], **options: object) -> bool:
    """Run a command; return True if its exit code and output are as expected."""
    start = time.perf_counter()
    done = subprocess.run(
        [*map(str, command)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT, **options
    )
    passed = done.returncode == expected and says in done.stdout
    print(f"{'passed' if passed else 'FAILED'} in {time.perf_counter() - start:.0f} s: {what}", flush=True)
    if not passed:
        print(f"exit code {done.returncode}\n{done.stdout[-3000:]}", flush=True)
    return passed


def tried(name: str, wheel: Path, folder: Path) -> bool:
    """Install the wheel in a new environment; return True if every step succeeds."""
    target = wheel if name == "core" else f"{wheel}[openvino]"
    packages = [target] if name == "core" else [target, f"openvino=={name}"]
    python, command = folder / "bin" / "python", folder / "bin" / "ov-gather"
    run(f"{name}: a new environment", 0, "", [sys.executable, "-m", "venv", folder])
    if not run(f"{name}: pip install", 0, "", [python, "-m", "pip", "install", "--quiet", *packages]):
        return False
    results = [run(f"{name}: validate", 0, "errors: 0", [command, "validate", "ir_samples/valid"])]
    if name == "core":
        bare = {"PATH": str(folder / "bin")}
        results.append(run("core: validate without g++", 0, "errors: 0", [command, "validate", "ir_samples/valid"], env=bare))
        extra = "pip install 'openvino>="
        results.append(run("core: check names the extra", 2, extra, [command, "check", "ir_samples/valid"], env=bare))
        return all(results)
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    results.append(run(f"{name}: the extension", 0, f"openvino-{name}-", [command, "extension", "build"], env=environment))
    results.append(run(f"{name}: register, accelerate, out of bounds", 0, "", [python, "-I", "-c", USE], env=environment))
    results.append(run(f"{name}: check", 0, "failed: 0", [command, "check", "ir_samples/valid"], env=environment))
    return all(results)


def main() -> int:
    names = sys.argv[1:] or ["core", "2024.6.0", "2025.4.1", "2026.4.1"]
    with TemporaryDirectory() as work:
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work, ROOT]
        if not run("a wheel", 0, "", pip):
            return 1
        (wheel,) = Path(work).glob("*.whl")
        results = [tried(name, wheel, Path(work, name)) for name in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

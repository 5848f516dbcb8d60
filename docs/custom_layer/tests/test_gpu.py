"""The kernel for GPUs in the GPU plugin of OpenVINO, on the CPU: no Intel GPU executes it here."""

import subprocess
import sys
from os import pathsep

import numpy as np
import openvino as ov
import pytest
import snake
from cpu_as_gpu import environment
from make_model import make_model

CASES = [((2, 5), 1, 0.5), ((3,), 0, 1e-9), ((4, 3, 2), 1, 1e-9), ((2, 3, 4, 5), 3, 2.0), ((2, 3, 4, 5), 0, 1e-9)]


def given(shape, axis):
    random = np.random.default_rng(sum(shape))
    alpha = random.uniform(0.1, 2, shape[axis])
    alpha[0] = 0
    return [random.normal(0, 3, shape).astype(np.float32), alpha.astype(np.float32)]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What this file saves as a program, in a process that finds the GPU."""
    pytest.importorskip("pocl_binary_distribution", reason="needs PoCL: pip install 'pyopencl[pocl]'")
    folder = tmp_path_factory.mktemp("gpu")
    variables = {**environment(folder), "PYTHONPATH": pathsep.join(sys.path)}
    subprocess.run([sys.executable, __file__, folder / "outputs.npz"], env=variables, check=True)
    return np.load(folder / "outputs.npz")


@pytest.mark.parametrize("number", range(len(CASES)))
def test_values(outputs, number):
    shape, axis, epsilon = CASES[number]
    x, alpha = (array.astype(np.float64) for array in given(shape, axis))
    alpha = np.expand_dims(alpha, [i for i in range(x.ndim) if i != axis])
    expected = x + np.sin(alpha * x) ** 2 / (alpha + epsilon)
    np.testing.assert_allclose(outputs[str(number)], expected, 1e-5, 1e-5)


def test_a_negative_axis_is_refused(outputs):
    words = ("CL_BUILD_PROGRAM_FAILURE", "failed to build the program")  # of OpenVINO 2026 and 2024
    assert any(word in str(outputs["refusal"]) for word in words)


if __name__ == "__main__":
    core, results = ov.Core(), {}
    core.add_extension(snake.LIBRARY)
    core.set_property("GPU", {"CONFIG_FILE": snake.GPU_CONFIG, "INFERENCE_PRECISION_HINT": "f32"})
    for number, (shape, axis, epsilon) in enumerate(CASES):
        compiled = core.compile_model(make_model(shape, shape[axis], "f32", axis, epsilon), "GPU")
        results[str(number)] = compiled(given(shape, axis))["y"]
    with pytest.raises(RuntimeError) as refusal:
        core.compile_model(make_model((2, 3), 3, "f32", -1), "GPU")
    np.savez(sys.argv[1], refusal=str(refusal.value), **results)

"""The kernel for GPUs, compiled with the macros of the GPU plugin, against the definition in NumPy. No Intel GPU is needed."""

from pathlib import Path

import numpy as np
import pytest
import snake

cl = pytest.importorskip("pyopencl")
if not cl.get_platforms():
    pytest.skip("there is no OpenCL device: pip install pocl-binary-distribution", allow_module_level=True)
from gpu_plugin import run

CONFIG = Path(snake.GPU_CONFIG)


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize(("shape", "axis"), [((2, 5), 1), ((3,), 0), ((4, 3, 2), 1), ((2, 3, 4, 5), 3), ((2, 3, 4, 5), 0)])
def test_values(shape, axis, padding):
    random = np.random.default_rng(0)
    x, alpha = random.normal(0, 3, shape).astype(np.float32), random.uniform(0, 2, shape[axis]).astype(np.float32)
    alpha[0] = 0
    wide = np.moveaxis(x.astype(np.float64), axis, -1)
    expected = np.moveaxis(wide + np.sin(alpha * wide) ** 2 / (alpha + 1e-9), -1, axis)
    y = run(CONFIG, "Snake", [x, alpha], shape, {"axis": axis, "epsilon": 1e-9}, padding)
    np.testing.assert_allclose(y, expected, 1e-5, 1e-5)


def test_a_negative_axis_is_refused():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(cl.RuntimeError, match="write axis as 0 or more"):
        run(CONFIG, "Snake", [x, x[0]], (2, 3), {"axis": -1})

"""Indices in shared memory that another thread changes while OpenVINO executes our operations on them."""

import numpy as np
import openvino as ov
import pytest

from helpers.changing import race
from helpers.inside_openvino import compiled, one_layer, read
from ov_gather import register
from ov_gather.ir.element_types import F32, I32, I64

RNG = np.random.default_rng(0)
DATA = RNG.random((1000, 64), np.float32)
AXIS = {"axis": (np.array(1), I64)}
CASES = {
    "GatherElements": (RNG.integers(-64, 64, (1000, 600)), {"axis": 1}, {}, lambda i: np.take_along_axis(DATA, i % 64, 1)),
    "Gather": (RNG.integers(-64, 64, 600), {}, AXIS, lambda i: DATA[:, i]),
    "GatherND": (
        np.stack([RNG.integers(-size, size, 60_000) for size in DATA.shape], -1),
        {"batch_dims": 0},
        {},
        lambda i: DATA[i[:, 0], i[:, 1]],
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("index_type", [I32, I64])
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("by", ["by_plugin", pytest.param("by_evaluate", marks=pytest.mark.sanitized)])
def test_a_result_is_that_of_valid_indices(kind, index_type, by):
    valid, attributes, constants, indexed = CASES[kind]
    indices, expected = valid.astype(index_type.dtype), indexed(valid)
    shapes = {"data": ("1000,64", F32), "indices": (",".join(map(str, indices.shape)), index_type)}
    model = read(register(ov.Core()), one_layer(kind, shapes, attributes, constants))
    out = np.empty(expected.shape, expected.dtype)
    tensors = [ov.Tensor(array, shared_memory=True) for array in (DATA, indices)]
    output = ov.Tensor(out, shared_memory=True)
    if by == "by_plugin":
        request = compiled(register(ov.Core()), model)
        for position, tensor in enumerate(tensors):
            request.set_input_tensor(position, tensor)
        request.set_output_tensor(0, output)

    def infer() -> None:
        if by == "by_plugin":
            request.start_async()
            request.wait()
        else:
            assert model.evaluate([output], tensors)

    assert any(race(infer, indices, out, RuntimeError, expected, narrowed=by == "by_plugin"))

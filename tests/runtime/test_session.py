"""How models are executed on OpenVINO: errors name the layer and tell an index out of bounds from other failures."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

import ov_gather
from ov_gather.acceleration.graph import ours
from ov_gather.extension import reason
from ov_gather.runtimes.base import OutOfBoundsError, RefusedError
from ov_gather.runtimes.session import Session

DATA = np.arange(20, dtype=np.float32).reshape(5, 4)
FAR = np.full((5, 4), 9)


def session_of(make, *arrays, core=None):
    parameters = [ops.parameter([-1] * array.ndim, array.dtype) for array in arrays]
    node = make(*parameters)
    node.set_friendly_name("pick me")
    return Session(core or ov.Core(), ov.Model([node], parameters, "model"), properties={"INFERENCE_NUM_THREADS": 1})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda data, index: ops.gather_elements(data, index, 0), "^GatherElements 'pick me': indices values .* exceed data"),
        (
            lambda data, index: ops.scatter_elements_update(data, index, data, ops.constant(0)),
            "^ScatterElementsUpdate node with name 'pick me' have indices value",
        ),
        (
            lambda data, index: ours("GatherElements", [data.output(0), index.output(0)], {"axis": 0}),
            r"^GatherElements 'pick me': indices\[0, 0\] = 9 is out of bounds for axis 0 of size 5",
        ),
    ],
    ids=["GatherElements", "ScatterElementsUpdate", "ours"],
)
def test_an_index_out_of_bounds(make, message):
    session = session_of(make, DATA, FAR, core=ov_gather.register(ov.Core()))
    with pytest.raises(OutOfBoundsError, match=message):
        session([DATA, FAR])
    (found,) = session([DATA, np.zeros_like(FAR)])
    assert found.shape == DATA.shape


def test_other_errors_name_the_layer():
    session = session_of(lambda one, other: ops.matmul(one, other, False, False), DATA, DATA)
    with pytest.raises(RefusedError, match=r"^MatMul 'pick me': .* shapes are incompatible") as caught:
        session([DATA, DATA])
    assert not isinstance(caught.value, IndexError)
    with pytest.raises(RefusedError, match="an input of f32 cannot be float64"):
        session([DATA, DATA.astype(float)])


def test_an_inference_that_is_run_many_times_reads_its_inputs_anew():
    index = np.zeros((5, 4), np.int64)
    inference = session_of(lambda data, where: ops.gather_elements(data, where, 0), DATA, index).prepare([DATA, index])
    for row in range(5):
        index[:] = row
        inference.run()
        (found,) = inference.outputs()
        assert (found == DATA[row]).all()


def test_several_threads_at_once():
    session = session_of(lambda data, where: ops.gather_elements(data, where, 0), DATA, FAR)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda row: session([DATA, np.full((5, 4), row)])[0], [0, 1, 2, 3, 4] * 10))
    assert all((array == DATA[i % 5]).all() for i, array in enumerate(found))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Exception from a.cpp:1:\nCheck 'x' failed at b.cpp:2:\n too large\n\n", "too large"),
        ("Exception from a.cpp:1:\n", "Exception from a.cpp:1:"),
        ("", "no reason given"),
        ("Node a b of type Tile\nCheck 'x' failed\nit fails", "Tile 'a b': it fails"),
        ("Node a b of type Tile\nTile 'a b' fails", "Tile 'a b' fails"),
        ("[CPU] MatMul node with name 'm' Check 'k' failed\nshapes", "MatMul 'm': shapes"),
    ],
)
def test_why_openvino_raises(message, expected):
    assert reason(RuntimeError(message)) == expected

"""`out` of any layout is written rightly, and nothing beside it; an output that overlaps itself is refused."""

import numpy as np
import openvino
import pytest
from numpy.lib.stride_tricks import as_strided

from helpers.pairwise import KERNELS, pairs
from ov_gather import gather, gather_elements, gather_nd, scatter_elements, scatter_nd
from ov_gather.kernels.arguments import overlaps_itself

pytestmark = [pytest.mark.sanitized, pytest.mark.usefixtures("kernel")]

ROWS, COLUMNS = 6, 4
DATA = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
ORDER = np.array([3, 0, 5, -1, 2, 4])
WHOLE_ROWS = np.broadcast_to(ORDER[:, None], DATA.shape)
UPDATES = DATA + 100
REVERSED = np.array([-1, -2, -3, -4, -5, -6])
SCATTERED = np.zeros_like(DATA)
SCATTERED[:] = DATA
for _row, _update in zip(ORDER, UPDATES, strict=True):
    SCATTERED[_row] = _update

CALLS = {
    "gather_elements": (lambda out: gather_elements(DATA, WHOLE_ROWS, out=out), DATA[ORDER]),
    "gather": (lambda out: gather(DATA, REVERSED, out=out), DATA[::-1]),
    "gather_nd": (lambda out: gather_nd(DATA, ORDER[:, None], out=out), DATA[ORDER]),
    "scatter_elements": (lambda out: scatter_elements(DATA, WHOLE_ROWS, UPDATES, out=out), SCATTERED),
    "scatter_nd": (lambda out: scatter_nd(DATA, ORDER[:, None], UPDATES, out=out), SCATTERED),
}
LAYOUTS = {
    "columns of more": lambda big: big[:ROWS, :COLUMNS],
    "every other row": lambda big: big[: 2 * ROWS : 2, :COLUMNS],
    "every other column": lambda big: big[:ROWS, : 2 * COLUMNS : 2],
    "backwards": lambda big: big[ROWS - 1 :: -1, COLUMNS - 1 :: -1],
    "transposed": lambda big: big[:COLUMNS, :ROWS].T,
    "misaligned": lambda big: big.reshape(-1).view(np.uint8)[1 : 1 + DATA.nbytes].view(np.float32).reshape(DATA.shape),
    "a matrix": lambda big: big[:ROWS, :COLUMNS].view(np.matrix),
}


@pairs(kernel=KERNELS, name=CALLS, layout=LAYOUTS)
def test_only_the_output_is_written(name, layout):
    call, expected = CALLS[name]
    big, wanted = np.full((16, 12), -1, np.float32), np.full((16, 12), -1, np.float32)
    out = LAYOUTS[layout](big)
    LAYOUTS[layout](wanted)[...] = expected
    assert call(out) is out
    np.testing.assert_array_equal(big, wanted)


@pytest.mark.parametrize("name", CALLS)
def test_a_region_of_an_openvino_tensor(name):
    call, expected = CALLS[name]
    whole = openvino.Tensor(np.full((16, 12), -1, np.float32))
    region = openvino.Tensor(whole, openvino.Coordinate([2, 3]), openvino.Coordinate([2 + ROWS, 3 + COLUMNS]))
    assert call(region) is region
    wanted = np.full((16, 12), -1, np.float32)
    wanted[2 : 2 + ROWS, 3 : 3 + COLUMNS] = expected
    np.testing.assert_array_equal(whole.data, wanted)


@pairs(kernel=KERNELS, axis=[0, 1], stride=[0, 4, 12, 1 << 40, -4])
def test_strides_of_one_element_mean_nothing(axis, stride):
    """`buffer[None]` and `buffer[:, None]` have a stride of 0 there, and `big[::2]` one that is too large."""
    shape = (1, 5) if axis == 0 else (5, 1)
    strides = (stride, 4) if axis == 0 else (4, stride)
    out = as_strided(np.empty(5, np.float32), shape, strides)
    data, updates = as_strided(np.ones(5, np.float32), shape, strides), as_strided(np.full(5, 7, np.float32), shape, strides)
    for along in (0, 1):
        scatter_elements(data, np.zeros(shape, np.int64), updates, along, out=out)
        expected = np.full(shape, 7) if along == axis else np.concatenate([[7], np.ones(4)]).reshape(shape)
        np.testing.assert_array_equal(out, expected)
        gather_elements(data, np.zeros(shape, np.int64), along, out=out)
        np.testing.assert_array_equal(out, np.ones(shape))


def test_one_row_of_every_other():
    """NumPy calls this output contiguous, whatever the stride of its only row."""
    big = np.full((2, 8), -1, np.float32)
    out = scatter_elements(np.zeros((1, 8), np.float32), np.zeros((1, 8), int), np.ones((1, 8), np.float32), out=big[::2])
    np.testing.assert_array_equal(out, np.ones((1, 8)))
    np.testing.assert_array_equal(big[1], -np.ones(8))


@pairs(kernel=KERNELS, name=CALLS, strides=[(0, 4), (16, 0), (4, 4), (8, 4), (16, 2), (-4, 4)], ids=str)
def test_an_output_that_overlaps_itself_is_refused(name, strides):
    memory = np.zeros(100, np.float32)
    out = as_strided(memory[40:], DATA.shape, strides)
    with pytest.raises(ValueError, match=f"{name}: elements of out overlap each other"):
        CALLS[name][0](out)
    assert not memory.any()


def test_interleaved_elements_do_not_overlap():
    """No dimension steps over the other one, and yet all elements are distinct: 0 2 4 and 3 5 7."""
    memory = np.full(10, -1.0)
    out = as_strided(memory, (3, 2), (16, 24))
    data = np.arange(6.0).reshape(3, 2)
    assert gather(data, np.array([2, 1, 0]), out=out) is out
    np.testing.assert_array_equal(memory, [4, -1, 2, 5, 0, 3, -1, 1, -1, -1])
    # Of four rows and three columns, 6 is there twice.
    assert overlaps_itself(as_strided(np.zeros(13), (4, 3), (16, 24)))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, "S3", np.complex128])
def test_empty_and_misaligned(dtype):
    """Nothing is read at the address of an empty array, so that it may be any."""
    indices = np.zeros(33, np.uint8)[1:].view(np.int64)
    assert gather(np.zeros((3, 0), dtype), indices, bounds="zero").shape == (4, 0)
    assert gather(np.zeros((0, 3), dtype), indices, bounds="zero").shape == (4, 3)
    assert gather_elements(np.zeros(3, dtype), indices[:0]).shape == (0,)
    assert gather_nd(np.zeros((3, 0), dtype), indices[:, None]).shape == (4, 0)
    assert scatter_elements(np.ones(3, dtype), indices[:0], np.ones(0, dtype)).tolist() == np.ones(3, dtype).tolist()

"""What no kernel can take is refused by an error of ours; `out` of any layout is written rightly, and nothing beside it."""

import numpy as np
import openvino
import pytest
from numpy.lib.stride_tricks import as_strided

from helpers.pairwise import KERNELS, pairs
from ov_gather import gather, gather_elements, gather_nd, scatter_elements, scatter_nd
from ov_gather.kernels.arguments import overlaps_itself

pytestmark = [pytest.mark.sanitized, pytest.mark.usefixtures("kernel")]

DATA, INDICES = np.arange(4.0).reshape(2, 2), np.zeros((2, 2), int)
FUNCTIONS = {
    gather_elements: ("data", "indices"),
    gather: ("data", "indices"),
    gather_nd: ("data", "indices"),
    scatter_elements: ("data", "indices", "updates"),
    scatter_nd: ("data", "indices", "updates"),
}
ARGUMENTS = [(function, name) for function, names in FUNCTIONS.items() for name in names]
NUMBERS = [
    (gather_elements, "axis"),
    (gather, "axis"),
    (gather, "batch_dims"),
    (gather_nd, "batch_dims"),
    (scatter_elements, "axis"),
]


def arguments(function, **changes):
    given = dict(zip(("data", "indices", "updates"), (DATA, INDICES, DATA), strict=True))
    return {name: given[name] for name in FUNCTIONS[function]} | changes


@pairs(kernel=KERNELS, argument=ARGUMENTS, given=[(None, "None"), ({1}, "a set"), ({}, "a dict"), (object(), "a object")])
def test_no_array(argument, given):
    (function, name), (value, what) = argument, given
    with pytest.raises(TypeError, match=f"^{function.__name__}: {name} must be an array, not {what}$"):
        function(**arguments(function, **{name: value}))


@pytest.mark.parametrize(("function", "name"), ARGUMENTS)
def test_ragged_lists(function, name):
    with pytest.raises(ValueError, match=f"^{function.__name__}: {name} cannot be seen as an array: .*inhomogeneous"):
        function(**arguments(function, **{name: [[1], [1, 2]]}))


@pytest.mark.parametrize(("function", "name"), ARGUMENTS)
def test_masked_arrays(function, name):
    masked = np.ma.masked_equal(arguments(function)[name], 0)
    with pytest.raises(TypeError, match=rf"^{function.__name__}: {name} is a masked array: .* filled\(\)$"):
        function(**arguments(function, **{name: masked}))


def test_masked_output():
    with pytest.raises(TypeError, match=r"^gather_elements: out must be an array of .* not MaskedArray$"):
        gather_elements(DATA, INDICES, out=np.ma.zeros(DATA.shape))


@pytest.mark.parametrize("value", ["False", 0, None, np.array([True])])
def test_use_init_val_is_a_boolean(value):
    with pytest.raises(TypeError, match=r"^scatter_elements: use_init_val must be True or False, not "):
        scatter_elements(DATA, INDICES, DATA, use_init_val=value)


@pairs(kernel=KERNELS, argument=NUMBERS, value=[None, 1.0, "0"])
def test_no_integer(argument, value):
    function, name = argument
    with pytest.raises(TypeError, match=f"^{function.__name__}: {name} must be an integer, not {value!r}$"):
        function(**arguments(function, **{name: value}))


@pytest.mark.parametrize("value", [None, np.zeros(2), ["error"], "clamp"])
def test_no_bounds(value):
    with pytest.raises(ValueError, match=r"^gather: bounds must be 'error' or 'zero'"):
        gather(DATA, INDICES, bounds=value)


@pytest.mark.parametrize("function", [scatter_elements, scatter_nd])
@pytest.mark.parametrize("value", [None, np.zeros(2), ["add"], "sub"])
def test_no_reduction(function, value):
    with pytest.raises(
        ValueError, match=rf"^{function.__name__}: reduction must be one of none, add, mul, min, max.*sum for add"
    ):
        function(**arguments(function, reduction=value))


@pairs(
    kernel=KERNELS,
    dtype=[np.float32, np.float16, np.int8, np.bool_, ">f8"],
    function=[scatter_elements, scatter_nd],
    names=[("add", "sum"), ("mul", "prod")],
)
def test_names_of_reductions(function, dtype, names):
    """ONNX's names of reductions are taken, and OpenVINO's."""
    data, updates = np.full((3, 2), 3).astype(dtype), np.full((3, 2), 2).astype(dtype)
    indices = np.zeros((3, 2), int) if function is scatter_elements else np.zeros((3, 1), int)
    results = [function(data, indices, updates, reduction=name) for name in names]
    expected = data.copy()
    if dtype is not np.bool_:
        expected[0] = 9 if "add" in names else 24
    for result in results:
        np.testing.assert_array_equal(result, expected)


ROWS, COLUMNS = 6, 4
TABLE = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
ORDER = np.array([3, 0, 5, -1, 2, 4])
WHOLE_ROWS = np.broadcast_to(ORDER[:, None], TABLE.shape)
UPDATES = TABLE + 100
REVERSED = np.array([-1, -2, -3, -4, -5, -6])
SCATTERED = np.zeros_like(TABLE)
SCATTERED[:] = TABLE
for _row, _update in zip(ORDER, UPDATES, strict=True):
    SCATTERED[_row] = _update

CALLS = {
    "gather_elements": (lambda out: gather_elements(TABLE, WHOLE_ROWS, out=out), TABLE[ORDER]),
    "gather": (lambda out: gather(TABLE, REVERSED, out=out), TABLE[::-1]),
    "gather_nd": (lambda out: gather_nd(TABLE, ORDER[:, None], out=out), TABLE[ORDER]),
    "scatter_elements": (lambda out: scatter_elements(TABLE, WHOLE_ROWS, UPDATES, out=out), SCATTERED),
    "scatter_nd": (lambda out: scatter_nd(TABLE, ORDER[:, None], UPDATES, out=out), SCATTERED),
}
LAYOUTS = {
    "columns of more": lambda big: big[:ROWS, :COLUMNS],
    "every other row": lambda big: big[: 2 * ROWS : 2, :COLUMNS],
    "every other column": lambda big: big[:ROWS, : 2 * COLUMNS : 2],
    "backwards": lambda big: big[ROWS - 1 :: -1, COLUMNS - 1 :: -1],
    "transposed": lambda big: big[:COLUMNS, :ROWS].T,
    "misaligned": lambda big: big.reshape(-1).view(np.uint8)[1 : 1 + TABLE.nbytes].view(np.float32).reshape(TABLE.shape),
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
    out = as_strided(memory[40:], TABLE.shape, strides)
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

"""gather_elements against plain NumPy indexing, on the compiled kernel and on the reference."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ov_gather import gather_elements
from ov_gather.kernels.gather_elements import kernel_name

pytestmark = [pytest.mark.sanitized, pytest.mark.usefixtures("kernel")]

DTYPES = [
    np.bool_, np.int8, np.uint16, np.float16, np.int32, np.float32, np.uint64, np.float64, np.complex64, np.complex128,
    ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4, "datetime64[s]", "S5", "U3", "V16", "O",
    np.dtypes.StringDType(), [("name", "O"), ("value", "f4")],
]  # fmt: skip


def by_indexing(data, indices, axis):
    """GatherElements element by element, as ONNX writes its definition down."""
    output = np.empty(indices.shape, data.dtype)
    for position in np.ndindex(indices.shape):
        source = list(position)
        source[axis] = indices[position]
        output[position] = data[tuple(source)]
    return output


@st.composite
def arguments(draw):
    """Data, indices and axis: any dtype, rank, sign, memory order; sizes from 0."""
    rank = draw(st.integers(1, 5))
    axis = draw(st.integers(-rank, rank - 1))
    data_shape = draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank))
    index_shape = [draw(st.integers(0, size)) for size in data_shape]
    size = data_shape[axis]
    index_shape[axis] = draw(st.integers(0, 6)) if size else 0
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    data = rng.integers(0, 2, data_shape).astype(draw(st.sampled_from(DTYPES)))
    indices = rng.integers(-size, max(size, 1), index_shape) if size else np.zeros(index_shape)
    indices = indices.astype(draw(st.sampled_from(["<i4", "<i8", ">i4", ">i8"])))
    for change in (np.asfortranarray, lambda array: array[::-1].copy()[::-1], lambda array: array):
        if draw(st.booleans()):
            data, indices = change(data), change(indices)
    return data, indices, axis


@pytest.mark.sampled(1)
@settings(max_examples=300, deadline=None)
@given(arguments())
def test_equals_indexing(given):
    data, indices, axis = given
    output = gather_elements(data, indices, axis)
    assert output.dtype == data.dtype
    assert output.shape == indices.shape
    np.testing.assert_array_equal(output, by_indexing(data, indices, axis))


@pytest.mark.parametrize("rank", [1, 8, 64])
def test_every_rank(rank):
    data = np.arange(3).reshape((1,) * (rank - 1) + (3,))
    np.testing.assert_array_equal(gather_elements(data, data[..., ::-1] - 3, -1).ravel(), [2, 1, 0])


@pytest.mark.sampled(1)
def test_broadcast_indices_are_not_materialised(kernel):
    rows = np.array([[3], [1], [-4]], np.int64)
    data = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(gather_elements(data, np.broadcast_to(rows, (3, 2)), 0), data[rows[:, 0]])
    if kernel == "native":
        # 2^28 indices of 8 bytes would take 2 GiB; the view takes 8 bytes.
        wide = np.broadcast_to(np.zeros((), np.int64), (1, 2**28))
        assert gather_elements(np.ones((2, 2**28), np.uint8), wide, 0).all()


@pytest.mark.parametrize(
    ("position", "value"),
    [((0, 0, 0), 60), ((39, 59, 49), -61), ((17, 3, 9), 2**31), ((20, 0, 1), -(2**63)), ((0, 0, 1), 2**32)],
)
def test_out_of_bounds_names_position_value_axis_and_range(position, value):
    indices = np.zeros((40, 60, 50), np.int64)
    indices[position] = value
    indices[39, 59, 49] = value  # a later index is out of bounds, too: the error must name the first
    with pytest.raises(IndexError) as caught:
        gather_elements(np.zeros((40, 60, 50), np.float32), indices, 1)
    where = ", ".join(map(str, position))
    assert str(caught.value) == (
        f"gather_elements: indices[{where}] = {value} is out of bounds for axis 1 of size 60 (valid -60..59)"
    )


def test_more_than_2_to_the_31_elements():
    data = np.zeros(2**31 + 64, np.uint8)
    indices = np.array([2**31 + 63, -1, 0, 2**31, -(2**31) - 64])
    data[indices] = [1, 1, 2, 3, 2]
    assert gather_elements(data, indices).tolist() == [1, 1, 2, 3, 2]
    rows, where = data[: 2**31].reshape(2**16, 2**15), np.zeros((1, 2**15), np.int64)
    where[0, 5:7] = 2**16 - 1, -1  # byte offsets beyond 2^31
    rows[2**16 - 1, 5:7] = 8, 9
    assert gather_elements(rows, where, 0)[0, :8].tolist() == [2, 0, 0, 0, 0, 8, 9, 0]


def _read_only(shape):
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


DATA, INDICES = np.zeros((2, 3)), np.zeros((2, 3), np.int64)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: gather_elements(DATA, INDICES.astype(np.uint8)), TypeError, "int32 or int64, not uint8"),
        (lambda: gather_elements(DATA, INDICES.astype(np.float64)), TypeError, "int32 or int64, not float64"),
        (lambda: gather_elements(DATA, INDICES, 2), ValueError, r"axis 2 is out of range for rank 2 \(valid -2..1\)"),
        (lambda: gather_elements(DATA[:, :0], INDICES, 1), IndexError, r"axis 1 of size 0 \(no index is valid\)"),
        (lambda: gather_elements(DATA, INDICES[0]), ValueError, "same rank of at least 1, not 2 and 1"),
        (lambda: gather_elements(np.zeros(()), np.zeros((), int)), ValueError, "at least 1, not 0 and 0"),
        (lambda: gather_elements(DATA, np.zeros((2, 4), int), 0), ValueError, "exceed data .* in dimension 1"),
        (lambda: gather_elements(DATA, INDICES, out=np.zeros((2, 2))), ValueError, "out must have the shape"),
        (lambda: gather_elements(DATA, INDICES, out=np.zeros((2, 3), "f4")), TypeError, "dtype float64, not float32"),
        (lambda: gather_elements(DATA, INDICES, out=[[0.0] * 3] * 2), TypeError, "not list"),
        (lambda: gather_elements(DATA, INDICES, out=_read_only((2, 3))), ValueError, "read-only"),
        (lambda: gather_elements(DATA, INDICES, out=DATA[::-1]), ValueError, "overlaps"),
    ],
)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_bit_patterns_are_moved_unchanged():
    signalling_nan = np.array([0x7FA00001, 0x80000000], np.uint32).view(np.float32)
    output = gather_elements(signalling_nan, np.array([1, 0]))
    assert output.view(np.uint32).tolist() == [0x80000000, 0x7FA00001]


def test_fields_of_records_and_foreign_byte_order():
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i1"), ("b", ">f4")])
    output = gather_elements(records["b"], np.array([1, 0], ">i4"))
    assert output.dtype == ">f4"
    assert output.tolist() == [4.5, 2.5]


@pytest.mark.parametrize("dtype", ["V16", "S8", "U4", "V2", "f8"])
def test_misaligned_elements(dtype):
    dtype = np.dtype(dtype)
    buffer = np.frombuffer(np.random.default_rng(0).bytes(10 * dtype.itemsize + 1), np.uint8)
    data = buffer[1:].view(np.uint8 if dtype.kind == "U" else dtype)[:10]
    if dtype.kind == "U":
        data = np.array(list("abcdefghij"), "U4")
        shifted = np.empty(data.nbytes + 4, np.uint8)[4:]
        shifted[:] = data.view(np.uint8)
        data = shifted.view("U4")
    out = np.empty(buffer.size + 1, np.uint8)[1 : 1 + 3 * dtype.itemsize].view(dtype)
    gather_elements(data, np.array([9, 0, -2]), out=out)
    assert out.tobytes() == data[[9, 0, 8]].tobytes()


def test_out_between_the_elements_of_data():
    both = np.arange(12.0).reshape(6, 2)
    gather_elements(both[:, 0], np.array([5, 4, 3, 2, 1, 0]), out=both[:, 1])
    assert both[:, 1].tolist() == [10, 8, 6, 4, 2, 0]


def test_kernel_name(kernel):
    assert kernel_name(np.dtype(np.float32)) == kernel
    assert kernel_name(np.dtype(object)) == "reference"

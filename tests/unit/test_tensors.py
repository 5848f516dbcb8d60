"""The kernels take tensors of other libraries as they are, and give results of the same kind."""

from __future__ import annotations

import numpy as np
import onnxruntime
import openvino
import pytest

from ov_gather import gather, gather_elements, gather_nd, scatter_elements, scatter_nd


class Tensor:
    """A tensor of a library that knows DLPack and nothing of NumPy."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    @classmethod
    def from_dlpack(cls, other):
        return cls(np.from_dlpack(other))


class OnAnotherDevice(Tensor):
    def __dlpack__(self, **options):
        raise BufferError("the tensor lies on a GPU")


def torch_tensor(array):
    return pytest.importorskip("torch").from_numpy(array)


KINDS = {
    "DLPack": (Tensor, lambda tensor: tensor.array),
    "onnxruntime": (onnxruntime.OrtValue.ortvalue_from_numpy, lambda tensor: tensor.numpy()),
    "OpenVINO": (lambda array: openvino.Tensor(array, shared_memory=True), lambda tensor: tensor.data),
    "PyTorch": (torch_tensor, lambda tensor: tensor.numpy()),
}
DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
ALONG = np.array([[0, -1], [2, 1], [3, 0]])
PAIRS = np.array([[0, -1], [2, 1]])
CALLS = {
    "gather_elements": (gather_elements, (DATA, ALONG), {"axis": 1}, np.take_along_axis(DATA, ALONG, 1)),
    "gather": (gather, (DATA, PAIRS), {"axis": 1}, np.take(DATA, PAIRS, 1)),
    "gather_nd": (gather_nd, (DATA, PAIRS), {}, DATA[[0, 2], [-1, 1]]),
    "scatter_elements": (
        scatter_elements,
        (DATA, ALONG, np.ones((3, 2), np.float32)),
        {"axis": 1, "reduction": "sum"},
        np.array([[1, 1, 2, 4], [4, 6, 7, 7], [9, 9, 10, 12]], np.float32),
    ),
    "scatter_nd": (
        scatter_nd,
        (DATA, PAIRS, np.float32([70, 80])),
        {"reduction": "max"},
        np.array([[0, 1, 2, 70], [4, 5, 6, 7], [8, 80, 10, 11]], np.float32),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_of_the_kind_of_data(kind, name):
    make, read = KINDS[kind]
    function, arrays, options, expected = CALLS[name]
    tensors = [make(array.copy()) for array in arrays]
    result = function(*tensors, **options)
    assert type(result) is type(tensors[0])
    np.testing.assert_array_equal(read(result), expected)


@pytest.mark.parametrize("kind", ["DLPack", "OpenVINO", "PyTorch"])
def test_out_is_written_in_place(kind):
    make, _ = KINDS[kind]
    memory = np.zeros((3, 2), np.float32)
    out = make(memory)
    assert gather_elements(make(DATA.copy()), ALONG, 1, out=out) is out
    np.testing.assert_array_equal(memory, np.take_along_axis(DATA, ALONG, 1))


def test_data_is_not_copied():
    """The result of a gather into the memory of data is refused, which could not be known of a copy."""
    memory = np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match="out overlaps an input"):
        gather_elements(Tensor(memory), ALONG % 2, 1, out=memory)


def test_arrays_and_tensors_mix():
    assert type(gather_elements(DATA, Tensor(ALONG), 1)) is np.ndarray
    assert type(gather_elements(Tensor(DATA), ALONG, 1)) is Tensor
    assert type(gather_elements(Tensor(DATA), ALONG.tolist(), 1)) is Tensor


def test_a_tensor_that_cannot_be_seen_is_named():
    with pytest.raises(TypeError, match="gather: a OnAnotherDevice cannot be seen as an array: the tensor lies on a GPU"):
        gather(OnAnotherDevice(DATA), PAIRS)


def test_errors_are_those_of_arrays():
    with pytest.raises(IndexError, match=r"gather: indices\[1\] = 9 is out of bounds for axis 0 of size 3"):
        gather(Tensor(DATA), Tensor(np.array([0, 9])))
    with pytest.raises(ValueError, match="out is read-only"):
        gather_elements(DATA, ALONG, 1, out=onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros((3, 2), np.float32)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda tensor: tensor.requires_grad_(), "require gradient"),
        (lambda tensor: tensor.to("meta"), "meta"),
        (lambda tensor: tensor.bfloat16(), "dtype"),
    ],
)
def test_tensors_of_pytorch_that_cannot_be_seen(change, reason):
    with pytest.raises(TypeError, match=reason):
        gather(change(torch_tensor(DATA.copy())), PAIRS)


def test_a_strided_view_of_pytorch():
    tensor = torch_tensor(DATA.copy()).T
    np.testing.assert_array_equal(gather(tensor, np.array([3, 0])).numpy(), DATA.T[[3, 0]])

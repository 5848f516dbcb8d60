"""The kernels take tensors of other libraries as they are, and give results of the same kind."""

import ml_dtypes
import numpy as np
import onnxruntime
import openvino
import pytest

from ov_gather import gather, gather_elements, gather_nd, gather_scatter, scatter_elements, scatter_nd


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
    "gather_scatter": (
        gather_scatter,
        (DATA, np.array([0, 2, -1]), np.array([1, 0, 1])),
        {"size": 2, "reduction": "mean"},
        np.array([[8, 9, 10, 11], [4, 5, 6, 7]], np.float32),
    ),
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
        (lambda tensor: tensor.bfloat16(), "torch.bfloat16 .*dtype.*view it as integers of the same size"),
        (lambda tensor: (tensor * (1 + 1j)).conj(), r"torch.complex64 .*call resolve_conj\(\) first"),
        (lambda tensor: (tensor * (1 + 1j)).conj().imag, r"torch.float32 .*call resolve_neg\(\) first"),
    ],
)
def test_tensors_of_pytorch_that_cannot_be_seen(change, reason):
    with pytest.raises(TypeError, match=reason):
        gather(change(torch_tensor(DATA.copy())), PAIRS)
    with pytest.raises(TypeError, match=reason):
        gather(DATA, PAIRS, out=change(torch_tensor(DATA[PAIRS])))


class Lazy(Tensor):
    """A tensor as PyTorch has them: its values are those in memory with the other sign, of which DLPack says nothing."""

    dtype = "torch.float32"

    def __init__(self, array, lazy=True):
        super().__init__(array)
        self.lazy = lazy

    def is_neg(self):
        return self.lazy


def test_values_that_are_not_in_memory_yet():
    with pytest.raises(TypeError, match=r"gather: a Lazy of torch.float32 .* \(is_neg\): call resolve_neg\(\) first"):
        gather(Lazy(DATA), PAIRS)
    with pytest.raises(TypeError, match=r"scatter_nd: a Lazy of torch.float32 .* \(is_neg\)"):
        scatter_nd(DATA, PAIRS, np.ones(2, np.float32), out=Lazy(DATA.copy()))
    np.testing.assert_array_equal(gather(Lazy(DATA, lazy=False), PAIRS).array, DATA[PAIRS])


def openvino_tensor(array, kind):
    """Return a tensor of a type that NumPy lacks, of these bits."""
    return openvino.Tensor(array, openvino.Shape(array.shape), kind)


def test_bfloat16_of_openvino():
    """Three ones are three, and not 5120, as the sum of the same bits as float16 is."""
    kind = openvino.Type.bf16
    ones = np.ones(3, ml_dtypes.bfloat16)
    data, updates = openvino_tensor(np.zeros(3, np.float16), kind), openvino_tensor(ones.view(np.float16), kind)
    result = scatter_elements(data, np.zeros(3, np.int64), updates, reduction="add")
    assert result.element_type == kind
    assert result.data.view(ml_dtypes.bfloat16).tolist() == [3, 0, 0]
    taken = gather(result, np.array([[1, 0]]))
    assert taken.element_type == kind
    assert taken.data.view(ml_dtypes.bfloat16).tolist() == [[0, 3]]
    out = openvino_tensor(np.zeros(2, np.float16), kind)
    assert gather(np.array([1, 3], ml_dtypes.bfloat16), np.array([1, 1]), out=out) is out
    assert out.data.view(ml_dtypes.bfloat16).tolist() == [3, 3]


def test_a_result_of_openvino_outlives_what_it_was_made_of():
    data = openvino_tensor(np.arange(100_000).astype(ml_dtypes.bfloat16).view(np.float16), openvino.Type.bf16)
    expected = data.data.copy()
    result = gather(data, np.arange(100_000))
    del data
    others = [np.ones(100_000, np.float16) for _ in range(20)]
    np.testing.assert_array_equal(result.data, expected)
    assert len(others) == 20


@pytest.mark.parametrize("name", ["f8e4m3", "f8e5m2", "f8e8m0"])
def test_float8_of_openvino_is_gathered_but_not_added(name):
    tensor = openvino_tensor(np.arange(4, dtype=np.uint8), getattr(openvino.Type, name))
    result = gather(tensor, np.array([3, 0]))
    assert result.element_type == tensor.element_type
    assert result.data.tolist() == [3, 0]
    with pytest.raises(TypeError, match=r"scatter_elements: float8_.* has no reduction add"):
        scatter_elements(tensor, np.array([0]), gather(tensor, np.array([1])), reduction="sum")


@pytest.mark.parametrize("name", ["u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1"])
def test_elements_of_openvino_smaller_than_a_byte(name):
    tensor = openvino.Tensor(getattr(openvino.Type, name), openvino.Shape([24]))
    reason = f"gather: an OpenVINO Tensor of {name} has elements smaller than a byte: convert it to i8 or u8"
    with pytest.raises(TypeError, match=reason):
        gather(tensor, np.array([0]))
    with pytest.raises(TypeError, match=reason):
        gather(np.zeros(3, np.uint8), np.zeros(24, int), out=tensor)


def test_strings_of_openvino():
    tensor = openvino.Tensor(np.array(["a", "bc"]))
    with pytest.raises(TypeError, match=r"gather: an OpenVINO Tensor of string .* pass its str_data"):
        gather(tensor, np.array([1]))
    assert gather(tensor.str_data, np.array([1])).tolist() == ["bc"]


def test_bfloat16_of_onnxruntime():
    tensor = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(DATA.astype(ml_dtypes.bfloat16), 16)
    with pytest.raises(TypeError, match=r"gather: a OrtValue .* view it as integers of the same size, or convert it"):
        gather(tensor, PAIRS)


def test_a_strided_view_of_pytorch():
    tensor = torch_tensor(DATA.copy()).T
    np.testing.assert_array_equal(gather(tensor, np.array([3, 0])).numpy(), DATA.T[[3, 0]])

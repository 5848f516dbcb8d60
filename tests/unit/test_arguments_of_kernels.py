"""What no kernel can take is refused by an error of ours, which names function, argument and remedy."""

import numpy as np
import pytest

from helpers.pairwise import KERNELS, pairs
from ov_gather import gather, gather_elements, gather_nd, scatter_elements, scatter_nd

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

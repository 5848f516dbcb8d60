"""ONNX models whose values of 64 bits travel in lanes, and such values."""

import warnings

import numpy as np
from onnx import helper, numpy_helper

from ov_gather.converters import LossyConversionWarning, compile_onnx


def values(dtype, shape, seed=0):
    """Every bit random, so that NaNs, denormals and numbers beyond 32 bits are among them."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(np.random.default_rng(seed).bytes(size), dtype).reshape(shape).copy()


def model(nodes, inputs, outputs, initializers=(), opset=18):
    """`inputs` and `outputs` by name: type (a dtype, or a number of ONNX) and shape."""
    infos = [[_info(name, *given) for name, given in side.items()] for side in (inputs, outputs)]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in dict(initializers).items()]
    graph = helper.make_graph(nodes, "graph", *infos, initializer=tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def _info(name, kind, shape):
    number = kind if isinstance(kind, int) else helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    return helper.make_tensor_value_info(name, number, shape)


def exactly(proto):
    """Compile; nothing may be lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LossyConversionWarning)
        return compile_onnx(proto)


def losses(call, *arguments, **options):
    """The losses that a conversion warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments, **options)
    return [str(warning.message) for warning in caught if issubclass(warning.category, LossyConversionWarning)]

"""ONNX models whose values of 64 bits travel in lanes, and such values."""

import warnings

import numpy as np

from ov_gather.converters import LossyConversionWarning, compile_onnx


def values(dtype, shape, seed=0):
    """Every bit random, so that NaNs, denormals and numbers beyond 32 bits are among them."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(np.random.default_rng(seed).bytes(size), dtype).reshape(shape).copy()


def exactly(proto):
    """Compile; nothing may be lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LossyConversionWarning)
        return compile_onnx(proto)

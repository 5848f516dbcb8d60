"""What tests of the kernels share."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

from ov_gather.kernels import native


@pytest.fixture(params=["native", "reference"])
def kernel(request, monkeypatch):
    """The compiled kernel, or the reference that takes its place where there is none."""
    if request.param == "reference":
        monkeypatch.setattr(native, "load", lambda: None)
    else:
        assert native.load() is not None, "the compiled kernel is missing from this installation"
    return request.param


@pytest.fixture
def at_the_end_of_a_page():
    """Copies an array to where the memory behind it may not be touched."""
    if sys.platform != "linux":
        pytest.skip("memory is protected in the way of Linux")
    libc, page, kept = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE, []

    def copied(array):
        size = -(-max(array.nbytes, 1) // page) * page
        memory = mmap.mmap(-1, size + page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert libc.mprotect(ctypes.c_void_p(address + size), page, 0) == 0
        kept.append((memory, address + size))
        copy = np.frombuffer(memory, array.dtype, array.size, size - array.nbytes).reshape(array.shape)
        copy[...] = array
        return copy

    yield copied
    for _, address in kept:
        libc.mprotect(ctypes.c_void_p(address), page, mmap.PROT_READ | mmap.PROT_WRITE)

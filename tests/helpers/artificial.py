"""Runtimes that misbehave, for a worker process to load."""

import ctypes
import os
import time

import numpy as np

from ov_gather.runtimes.base import RefusedError, Runtime


class Moody(Runtime):
    """A runtime that does what its model, a word, says."""

    name = "moody"
    version = "1.2.3"

    def activate(self, model, threads=0):
        assert not hasattr(self, "model"), "something is left of the model before"
        self.model = model
        if model == "refuse":
            raise RefusedError("no")

    def execute(self, inputs):
        if self.model == "SIGSEGV":
            ctypes.string_at(0)
        if self.model == "SIGABRT":
            os.abort()
        if self.model == "exit":
            os._exit(3)
        if self.model == "hang":
            time.sleep(1000)
        if self.model == "bug":
            raise KeyError("a bug")
        if self.model == "pid":
            return [np.array(os.getpid())]
        if self.model == "parent":
            return [np.array(os.getppid())]
        if self.model.startswith("$"):
            return [np.array(os.environ.get(self.model[1:], "not set"))]
        return list(inputs)

    def __del__(self):
        if getattr(self, "model", "") == "abort when freed":
            os.abort()


class Dying(Moody):
    def __init__(self):
        os.abort()


class Absent(Moody):
    def __init__(self):
        raise ImportError("it is not installed")

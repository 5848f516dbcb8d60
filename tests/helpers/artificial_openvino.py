"""OpenVINO runtimes that misbehave, for a worker process to load."""

import ctypes
import time

import numpy as np

from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.kernel import KernelRuntime
from ov_gather.runtimes.openvino import OpenVINORuntime


class CrashesOnce(OpenVINORuntime):
    """The process crashes at the first layer of the sample, which is in the first body."""

    def activate(self, model, threads=0):
        super().activate(model, threads)
        if model.name == "gather_axis_0":
            ctypes.string_at(0)


class Wrong(OpenVINORuntime):
    """One element is wrong, in a way that no divergence predicts."""

    def execute(self, inputs):
        (output,) = super().execute(inputs)
        output[1, 2, 3] += 1
        return [output]


class Lenient(OpenVINORuntime):
    """The runtime answers also where it should refuse."""

    def execute(self, inputs):
        try:
            return super().execute(inputs)
        except RefusedError:
            return [np.zeros((3, 10, 5), np.float32)]


class OffByOne(KernelRuntime):
    """The first value of an output is wrong."""

    def execute(self, inputs):
        (output,) = super().execute(inputs)
        if output.size:
            output.reshape(-1)[0] += 1
        return [output]


class Shifted(OpenVINORuntime):
    """The last element of each output is one too large."""

    def execute(self, inputs):
        outputs = super().execute(inputs)
        for output in outputs:
            output.flat[-1] += 1
        return outputs


class Crashing(OpenVINORuntime):
    """The process crashes whatever the layer is."""

    def execute(self, inputs):
        ctypes.string_at(0)


class WrongOf24(KernelRuntime):
    """The output is wrong only where data is 24 rows of 8."""

    def execute(self, inputs):
        (output,) = super().execute(inputs)
        return [output + 1 if inputs[0].shape == (24, 8) else output]


class HangingOf24(KernelRuntime):
    """The runtime never answers where the output has 24 elements."""

    def execute(self, inputs):
        (output,) = super().execute(inputs)
        if output.size == 24:
            time.sleep(3600)
        return [output]

"""Small models of one gather or scatter that tests harden, what NumPy says of them, and runs in which a crash is a result."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset3, opset4, opset8, opset12, opset13

import ov_gather

CRASHED, RAISED = "crashed", "raised"
EACH_POLICY = pytest.mark.parametrize(
    ("policy", "portable"), [("raise", False), ("raise", True), ("clamp", True), ("zero", True)]
)
ROWS, COLUMNS = 5, 3


@dataclass(frozen=True)
class Run:
    """A Run is one inference of a small model, hardened or not: it names all that a worker process needs.

    Attributes:
        index: the last index, or coordinate.
        dtype: of the indices.
        is_constant: whether the indices are a constant.
    """

    kind: str
    policy: str
    index: int
    is_open: bool = False
    portable: bool = False
    threads: int = 2
    rows: int = ROWS
    dtype: str = "int32"
    is_constant: bool = False

    @property
    def seen(self) -> int:
        """The last index as the CPU plugin sees it: constants saturate at 32 bits, inputs wrap around."""
        if self.is_constant:
            return min(max(self.index, -(2**31)), 2**31 - 1)
        return (self.index + 2**31) % 2**32 - 2**31


def crashed(code):
    return CRASHED


def infer(run: Run):
    """The output of a small model as bytes, or RAISED. Its first index is in bounds and its last is the one of the run.

    The model is compiled once for the runs in turn that differ in what they feed.
    """
    try:
        compiled = compiled_for(run if run.is_constant else replace(run, index=0))
    except RuntimeError:  # a constant out of bounds
        return RAISED
    return request_of(compiled, small_model(run)[1])


@lru_cache(1)
def compiled_for(run: Run):
    model, _ = small_model(run)
    if run.policy:
        ov_gather.harden(model, policy=run.policy, portable=run.portable)
    return compile_model(model, run.threads)


def infer_model(model, inputs):
    try:
        compiled = model if isinstance(model, ov.CompiledModel) else compile_model(model)
    except RuntimeError:
        return RAISED
    return request_of(compiled, inputs)


@cache
def core():
    return ov_gather.register(ov.Core())


def compile_model(model, threads=2):
    properties = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    return core().compile_model(model, "CPU", properties)


def request_of(compiled, inputs):
    """The outputs of one inference as bytes, or RAISED."""
    request = compiled.create_infer_request()
    try:
        for position, array in enumerate(inputs):
            request.set_input_tensor(position, ov.Tensor(array))
        request.start_async()
        request.wait()
    except RuntimeError:
        return RAISED
    return [request.get_output_tensor(position).data.tobytes() for position in range(len(compiled.outputs))]


def outputs(model, *inputs):
    """What the model, which may be compiled, computes, as lists of numbers; or RAISED."""
    found = infer_model(model, [np.array(array) for array in inputs])
    return found if found == RAISED else [np.frombuffer(part, np.float32).tolist() for part in found]


def arrays(run: Run):
    data = np.arange(1, run.rows * COLUMNS + 1, dtype=np.float32).reshape(run.rows, COLUMNS)
    if run.kind in ("Gather-8", "Gather-1", "ScatterUpdate-3"):
        indices = np.array(
            [1, 2, run.index], object
        )  # never one index twice: OpenVINO's threads race for a row of ScatterUpdate
        updates = np.arange(100, 109, dtype=np.float32).reshape(3, 3)
    elif run.kind in ("GatherND-8", "ScatterNDUpdate-3"):
        indices = np.array([[0, 0], [2, 2 if run.dtype.startswith("u") else -1], [run.index, 1]], object)
        updates = np.arange(100, 103, dtype=np.float32)
    else:
        indices = np.array([[0, 1, 2], [2, 0, run.index]], object)
        updates = np.arange(100, 106, dtype=np.float32).reshape(2, 3)
    return data, indices.astype(run.dtype), updates


def small_model(run: Run):
    data, indices, updates = arrays(run)
    shapes = [[-1] * array.ndim if run.is_open else list(array.shape) for array in (data, indices, updates)]
    if run.kind in ("GatherND-8", "ScatterNDUpdate-3"):
        shapes[1][-1] = 2
    given = opset13.parameter(shapes[0], np.float32, name="data")
    index = opset13.constant(indices) if run.is_constant else opset13.parameter(shapes[1], indices.dtype, name="indices")
    update = opset13.parameter(shapes[2], np.float32, name="updates")
    axis = opset13.constant(0)
    make = {
        "Gather-8": lambda: opset8.gather(given, index, axis),
        "Gather-1": lambda: opset1.gather(given, index, axis),
        "GatherElements-6": lambda: opset13.gather_elements(given, index, 0),
        "GatherND-8": lambda: opset8.gather_nd(given, index),
        "ScatterUpdate-3": lambda: opset3.scatter_update(given, index, update, axis),
        "ScatterNDUpdate-3": lambda: opset4.scatter_nd_update(given, index, update),
        "ScatterElementsUpdate-3": lambda: opset3.scatter_elements_update(given, index, update, axis),
        "ScatterElementsUpdate-12": lambda: opset12.scatter_elements_update(given, index, update, axis, "sum"),
    }
    fed = [(given, data), *([] if run.is_constant else [(index, indices)])]
    if run.kind.startswith("Scatter"):
        fed.append((update, updates))
    parameters, feed = zip(*fed, strict=True)
    return ov.Model([make[run.kind]()], list(parameters), "model"), feed


def expected(run: Run):
    """What NumPy makes of the policy: the output as bytes, or RAISED."""
    data, indices, updates = arrays(run)
    lowest = 0 if run.kind in ("Gather-1", "ScatterUpdate-3") else -run.rows
    is_inside = lowest <= run.seen < run.rows
    if not is_inside and (run.policy == "raise" or run.rows == 0):
        return RAISED
    indices = indices.astype(np.int64)
    place = {"GatherND-8": (2, 0), "ScatterNDUpdate-3": (2, 0)}.get(run.kind, (-1,) * indices.ndim)
    indices[place] = min(max(run.seen, lowest), run.rows - 1)
    is_zeroed = not is_inside and run.policy == "zero"
    if run.kind.startswith("Gather-"):
        out = data[indices]
        out[2] *= not is_zeroed
    elif run.kind == "GatherND-8":
        out = data[tuple(indices.T)]
        out[2] *= not is_zeroed
    elif run.kind == "GatherElements-6":
        out = np.take_along_axis(data, indices, 0)
        out[-1, -1] *= not is_zeroed
    else:
        out = _scattered(run.kind, data, indices, updates, is_zeroed)
    return [out.astype(np.float32).tobytes()]


def _scattered(kind, data, indices, updates, is_dropped):
    out = data.copy()
    places = list(np.ndindex(indices.shape[:-1] if kind == "ScatterNDUpdate-3" else indices.shape))
    for place in places[: -1 if is_dropped else None]:
        if kind == "ScatterNDUpdate-3":
            out[tuple(indices[place])] = updates[place]
        elif kind == "ScatterUpdate-3":
            out[indices[place]] = updates[place]
        elif kind == "ScatterElementsUpdate-3":
            out[indices[place], place[1]] = updates[place]
        else:
            out[indices[place], place[1]] += updates[place]
    return out

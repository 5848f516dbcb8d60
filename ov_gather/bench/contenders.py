"""The contenders of a benchmark: each runs a case as its user would write it, with a preallocated output if possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import prod
from operator import setitem
from timeit import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase, Run
from ov_gather.bench.gather_cases import GatherElements
from ov_gather.kernels import native
from ov_gather.kernels.native import set_num_threads
from ov_gather.kernels.scatter_nd import scatter_nd

Result = Callable[[], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class BenchConditions:
    """The number of threads of all contenders, OpenVINO's precision hint, and the type of indices: i32 or i64."""

    threads: int
    precision: str = "f32"
    index_type: str = "i64"


Contender = Callable[[BenchCase, BenchConditions], tuple[Run, Result]]


def kernel(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a call of our Python function with `out`."""
    set_num_threads(conditions.threads)
    run = case.kernel(np.empty(case.shape, case.data.dtype))
    return run, run


def torch(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a call of torch's function, with `out` if it has that."""
    import torch

    torch.set_num_threads(conditions.threads)
    inputs = [torch.from_numpy(array) for array in case.inputs.values()]
    run = case.torch(torch.empty(case.shape, dtype=inputs[0].dtype), *inputs)
    return run, lambda: np.asarray(run())


def torch_compile(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare torch's function compiled by its default compiler, inductor. The code checks indices."""
    from torch import compile, compiler

    compiler.reset()  # else functions of an earlier case would be compiled anew, for sizes that are not constant
    run, _ = torch(case, conditions)
    compiled = compile(run, fullgraph=True)
    return compiled, lambda: np.asarray(compiled())


def jax(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a function compiled by `jax.jit` that fills elements whose index is out of bounds."""
    return _in_jax(case, "fill")


def jax_unchecked(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a function compiled by `jax.jit` whose indices are promised to be in bounds."""
    return _in_jax(case, "promise_in_bounds")


def _in_jax(case: BenchCase, mode: str) -> tuple[Run, Result]:
    """Prepare a function compiled by `jax.jit`.

    As by default in JAX, i64 indices become i32 beforehand, unless data has 64 bits. `environment` limits the threads.
    """
    from jax import config, jit
    from jax.numpy import asarray

    config.update("jax_enable_x64", case.data.dtype.itemsize == 8)
    inputs = list(map(asarray, case.inputs.values()))
    compiled = jit(case.jax(mode))

    def run() -> Any:
        return compiled(*inputs).block_until_ready()

    return run, lambda: np.asarray(run())


def numpy(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a call of NumPy, which always uses one thread."""
    return case.numpy, case.numpy


def onnxruntime(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a model of the operation alone in onnxruntime, with IO binding and without spinning threads."""
    import onnx
    import onnxruntime as ort
    from onnx import helper, numpy_helper

    inputs = dict(case.inputs)
    constants = [numpy_helper.from_array(inputs.pop("indices"), "indices")] if case.constant_indices else []
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    parameters = [helper.make_tensor_value_info(name, kinds[name], array.shape) for name, array in inputs.items()]
    output = helper.make_tensor_value_info("output", kinds["data"], case.shape)
    graph = helper.make_graph(case.onnx(), case.name, parameters, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)

    options = ort.SessionOptions()
    options.intra_op_num_threads = conditions.threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    target = ort.OrtValue.ortvalue_from_numpy(np.empty(case.shape, case.data.dtype))
    binding.bind_ortvalue_output("output", target)
    return lambda: session.run_with_iobinding(binding), target.numpy


def openvino(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare OpenVINO's own operation in its CPU plugin."""
    import openvino as ov

    return _in_openvino(ov.Core(), case.openvino, case, conditions)


def extension(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare our operation in OpenVINO's CPU plugin."""
    import openvino as ov

    from ov_gather import extension_path, register
    from ov_gather.extension.python_api import NodeFactory

    factory = NodeFactory()
    factory.add_extension(extension_path())

    def work(*inputs: Any) -> Any:
        return case.extension(factory.create, *(node.output(0) for node in inputs))

    return _in_openvino(register(ov.Core()), work, case, conditions)


def _in_openvino(core: Any, work: Callable[..., Any], case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a model of the operation alone in OpenVINO; setting the tensors is not timed."""
    import openvino as ov

    from ov_gather.extension.python_api import opset13 as ops
    from ov_gather.runtimes.session import Session

    nodes = {name: ops.parameter(array.shape, array.dtype) for name, array in case.inputs.items()}
    parameters = dict(nodes)
    if case.constant_indices:
        nodes["indices"] = ops.constant(case.own_indices)
        del parameters["indices"]
    model = ov.Model([work(*nodes.values())], list(parameters.values()), case.name)
    properties = {"INFERENCE_NUM_THREADS": conditions.threads, "INFERENCE_PRECISION_HINT": conditions.precision}
    session = Session(core, model, properties=properties)
    inference = session.prepare([case.inputs[name] for name in parameters])
    inference.run()  # raises errors
    return inference.run_here, lambda: inference.outputs()[0]


def limit(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare the limit, which is not a contender: a copy in order of the least bytes that the case reads and writes.

    The copy has no result to check; NumPy's is returned.
    """
    set_num_threads(conditions.threads)
    whole_arrays = sum(array.nbytes for array in case.inputs.values()) + prod(case.shape) * case.data.itemsize
    data, out = (np.ones(min(case.bytes_moved, whole_arrays) // 2, np.uint8) for _ in range(2))
    no_tuples, no_updates = np.empty((0, 1), np.int64), np.empty(0, np.uint8)
    on_threads = partial(scatter_nd, data, no_tuples, no_updates, out=out)  # only copies
    ways: tuple[Run, Run] = (partial(setitem, out, ..., data), on_threads)
    return min(ways, key=lambda run: min(repeat(run, number=1, repeat=4))), case.numpy


def loads(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare the limit of a lookup beyond the caches: as many loads of data as it has, at random, none waiting for another."""
    return _walks(case, conditions.threads, _CHAINS, prod(case.shape))


def latency(case: BenchCase, conditions: BenchConditions) -> tuple[Run, Result]:
    """Prepare a tenth of these loads, as all would take seconds, each waiting for the one before.

    Ten times its time, divided by ours, is the number of loads that ours overlaps.
    """
    return _walks(case, 1, 1, prod(case.shape) // 10)


_CHAINS = 64
"""Independent loads on each thread; more than a core overlaps."""


def _walks(case: BenchCase, threads: int, chains: int, count: int) -> tuple[Run, Result]:
    """Prepare walks through memory of data's size. They have no result to check; NumPy's is returned."""
    kernel = native.load()
    if kernel is None:
        raise LookupError("there is no compiled kernel")
    following = random_cycle(case.data.nbytes // 4)
    starts = [part[:chains].copy() for part in np.array_split(following, threads)]
    steps = count // (threads * chains)
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(lambda places: kernel.chase(following, places, steps), starts)), case.numpy


def random_cycle(size: int) -> NDArray[np.int32]:
    """Return the place behind each place, in a random order in which all places follow each other."""
    order = np.random.default_rng(0).permutation(np.arange(size, dtype=np.int32))
    following = np.empty_like(order)
    following[order] = np.roll(order, -1)
    return following


def limits_of(case: BenchCase) -> Mapping[str, Contender]:
    """Return limits beside the copy: a lookup in one dimension, from 1 MB on, waits for single loads."""
    is_lookup = isinstance(case, GatherElements) and case.data.ndim == 1 and case.data.nbytes >= 1 << 20
    return {"loads": loads, "latency": latency} if is_lookup else {}


CONTENDERS: Mapping[str, Contender] = {
    "kernel": kernel,
    "torch": torch,
    "torch_compile": torch_compile,
    "jax": jax,
    "jax_unchecked": jax_unchecked,
    "onnxruntime": onnxruntime,
    "numpy": numpy,
    "openvino": openvino,
    "extension": extension,
    "limit": limit,
}

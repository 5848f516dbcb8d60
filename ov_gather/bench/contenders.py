"""Who takes part: each gets a case as its user would write it, with preallocated output where it can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.cases import Case

Run = Callable[[], object]
Result = Callable[[], NDArray[Any]]
Contender = Callable[[Case, int], tuple[Run, Result]]


def kernel(case: Case, threads: int) -> tuple[Run, Result]:
    """`ov_gather.gather_elements` with `out`; expanded indices as a view."""
    from ov_gather import gather_elements, set_num_threads

    set_num_threads(threads)
    out, indices = np.empty(case.shape, case.data.dtype), case.indices
    return lambda: gather_elements(case.data, indices, case.axis, out=out), lambda: out


def torch(case: Case, threads: int) -> tuple[Run, Result]:
    """`torch.gather` with `out`; expanded indices by `expand`."""
    import torch

    torch.set_num_threads(threads)
    data = torch.from_numpy(case.data)
    indices = torch.from_numpy(case.own_indices).expand(case.shape)
    out = torch.empty(case.shape, dtype=data.dtype)
    return lambda: torch.gather(data, case.axis, indices, out=out), out.numpy


def numpy(case: Case, threads: int) -> tuple[Run, Result]:
    """`np.take_along_axis`, which has one thread and no `out`."""
    outputs: list[NDArray[Any]] = []

    def run() -> None:
        outputs[:] = [np.take_along_axis(case.data, case.indices, case.axis)]

    return run, lambda: outputs[0]


def onnxruntime(case: Case, threads: int) -> tuple[Run, Result]:
    """A model of one GatherElements, behind an Expand where indices are expanded; IO binding, no spinning."""
    import onnx
    import onnxruntime as ort
    from onnx import helper, numpy_helper

    kinds = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in (case.data, case.own_indices)]
    inputs = [helper.make_tensor_value_info("data", kinds[0], case.data.shape)]
    initializers, nodes, indices = [], [], "indices"
    if case.constant_indices:
        initializers.append(numpy_helper.from_array(case.own_indices, "indices"))
    else:
        inputs.append(helper.make_tensor_value_info("indices", kinds[1], case.own_indices.shape))
    if case.is_expanded:
        initializers.append(numpy_helper.from_array(np.array(case.shape, np.int64), "shape"))
        nodes.append(helper.make_node("Expand", ["indices", "shape"], ["expanded"]))
        indices = "expanded"
    nodes.append(helper.make_node("GatherElements", ["data", indices], ["output"], axis=case.axis))
    output = helper.make_tensor_value_info("output", kinds[0], case.shape)
    graph = helper.make_graph(nodes, case.name, inputs, [output], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)
    onnx.checker.check_model(model)

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    out = np.empty(case.shape, case.data.dtype)
    binding = session.io_binding()
    binding.bind_ortvalue_input("data", ort.OrtValue.ortvalue_from_numpy(case.data))
    if not case.constant_indices:
        binding.bind_ortvalue_input("indices", ort.OrtValue.ortvalue_from_numpy(case.own_indices))
    target = ort.OrtValue.ortvalue_from_numpy(out)
    binding.bind_ortvalue_output("output", target)
    return lambda: session.run_with_iobinding(binding), target.numpy


def openvino(case: Case, threads: int) -> tuple[Run, Result]:
    """The stock operation on the CPU plugin, behind a Broadcast where indices are expanded."""
    import openvino as ov
    from openvino import opset13 as ops

    def gather(data: Any, indices: Any) -> Any:
        expanded = ops.broadcast(indices, ops.constant(np.array(case.shape))) if case.is_expanded else indices
        return ops.gather_elements(data, expanded, case.axis)

    return _in_openvino(ov.Core(), gather, case, threads)


def extension(case: Case, threads: int) -> tuple[Run, Result]:
    """Our operation on the CPU plugin, which broadcasts by itself."""
    import openvino as ov
    from openvino.utils.node_factory import NodeFactory

    from ov_gather import extension_path, register

    factory = NodeFactory()
    factory.add_extension(extension_path())

    def gather(data: Any, indices: Any) -> Any:
        attributes = {"axis": case.axis, "broadcast": case.is_expanded}
        return factory.create("GatherElements", [data.output(0), indices.output(0)], attributes)

    return _in_openvino(register(ov.Core()), gather, case, threads)


def _in_openvino(core: Any, gather: Callable[[Any, Any], Any], case: Case, threads: int) -> tuple[Run, Result]:
    """A model of one gather on the CPU plugin; tensors set before, asynchronous."""
    import openvino as ov
    from openvino import opset13 as ops

    arrays = [case.data, case.own_indices]
    data = ops.parameter(case.data.shape, case.data.dtype)
    indices = (
        ops.constant(case.own_indices)
        if case.constant_indices
        else ops.parameter(case.own_indices.shape, case.own_indices.dtype)
    )
    parameters = [data] if case.constant_indices else [data, indices]
    model = ov.Model([gather(data, indices)], parameters, case.name)
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    request = core.compile_model(model, "CPU", config).create_infer_request()
    tensors = [ov.Tensor(array, shared_memory=True) for array in arrays]
    for i in range(len(parameters)):
        request.set_input_tensor(i, tensors[i])

    def run() -> None:
        request.start_async()
        request.wait()

    return run, lambda: np.array(request.get_output_tensor(0).data)


def copy(case: Case, threads: int) -> tuple[Run, Result]:
    """No contender, but the limit: copying as many bytes as the gather must move at least."""
    source = np.ones(case.bytes_moved // 2, np.uint8)
    parts = list(zip(np.array_split(source, threads), np.array_split(np.empty_like(source), threads), strict=True))
    pool = ThreadPoolExecutor(threads)

    def run() -> None:
        if case.bytes_moved < 1 << 20:
            for part, target in parts:
                np.copyto(target, part)
        else:
            list(pool.map(lambda pair: np.copyto(pair[1], pair[0]), parts))

    return run, lambda: np.take_along_axis(case.data, case.indices, case.axis)


CONTENDERS: Mapping[str, Contender] = {
    "kernel": kernel,
    "torch": torch,
    "onnxruntime": onnxruntime,
    "numpy": numpy,
    "openvino": openvino,
    "extension": extension,
    "copy": copy,
}

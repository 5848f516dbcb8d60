"""Intermediate values of an ONNX model in onnxruntime: the operands and the output of every gather."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray
from onnx_ir.convenience import get_const_tensor
from onnx_ir.passes.common import InlinePass

from ov_gather.converters.external_data import external_tensors, top_graphs
from ov_gather.converters.sparse import dense
from ov_gather.ops.onnx_nodes import GATHERS, attribute
from ov_gather.runtimes.base import OnnxFile, RefusedError, Runtime
from ov_gather.system.files import scratch

BATCH = 16
"""Initial number of gathers whose tensors are computed, and held in memory, at once; multiplied by 4 after each small batch."""
HELD = 1 << 27
"""Maximum bytes of the tensors of a batch that is followed by a larger one, which would have 4 times as many."""


@dataclass(frozen=True, slots=True)
class GatherTensors:
    """The operands and the output of a gather. `constant` is True for each operand that is a constant of the model."""

    node: onnx_ir.Node
    operands: tuple[NDArray[Any], NDArray[Any]]
    constant: tuple[bool, bool]
    output: NDArray[Any]


def load(source: Path | bytes | onnx.ModelProto) -> onnx_ir.Model:
    """Load a model from a file, bytes or a proto, and inline its functions. Raises OSError; ValueError if it is not valid."""
    try:
        if isinstance(source, Path):
            model = onnx_ir.from_proto(dense(onnx.load(source, load_external_data=False)))
            for graph in top_graphs(model):
                onnx_ir.external_data.set_base_dir(graph, source.parent)
        else:
            model = onnx_ir.from_proto(dense(onnx.ModelProto.FromString(source) if isinstance(source, bytes) else source))
        return InlinePass()(model).model if model.functions else model
    except OSError:
        raise
    except Exception as error:  # errors of protobuf and onnx-ir have no common base class
        name = source if isinstance(source, Path) else "bytes" if isinstance(source, bytes) else "onnx.ModelProto"
        raise ValueError(f"{name}: not a valid ONNX model: {error}") from error


def gathers(model: onnx_ir.Model) -> tuple[list[onnx_ir.Node], list[onnx_ir.Node]]:
    """Return the gathers of the main graph, and those in bodies (If, Loop, Scan), whose tensors are not accessible."""
    found = [node for node in model.graph.all_nodes() if node.op_type in GATHERS and not node.domain]
    return [node for node in found if node.graph is model.graph], [node for node in found if node.graph is not model.graph]


def tensors_of(
    model: onnx_ir.Model, nodes: Sequence[onnx_ir.Node], inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any]
) -> Iterator[GatherTensors]:
    """Yield the tensors of each gather for these inputs, in batches. Raises RefusedError, CrashedError."""
    start, most = 0, BATCH
    while start < len(nodes):
        batch = nodes[start : start + most]
        wanted = [value for node in batch for value in (*node.inputs, node.outputs[0]) if value is not None]
        arrays = values(model, wanted, inputs, runtime, runs_once=True)
        tensors = iter(arrays)
        for node in batch:
            data, indices, output = next(tensors), next(tensors), next(tensors)
            constant = tuple(value is not None and get_const_tensor(value) is not None for value in node.inputs)
            yield GatherTensors(node, (data, indices), (constant[0], constant[1]), output)
        start += len(batch)
        if 4 * sum(array.nbytes for array in arrays) < HELD:
            most *= 4


def values(
    model: onnx_ir.Model,
    wanted: Sequence[onnx_ir.Value],
    inputs: Mapping[str, NDArray[Any]],
    runtime: Runtime[Any],
    *,
    runs_once: bool = False,
) -> list[NDArray[Any]]:
    """Return the arrays of some values of the main graph for these inputs. Raises RefusedError, CrashedError.

    `runs_once`: spare the time to prepare weights, as for values that are compared with no others of this model.
    """
    known = dict(inputs)
    for value in wanted:
        constant = get_const_tensor(value)
        if constant is not None:
            known[str(value.name)] = _array(constant)
    computed = {str(value.name): value for value in wanted if value.name not in known}
    if computed:
        outputs = list(model.graph.outputs)
        model.graph.outputs[:] = list(computed.values())
        try:
            with activated(model, runtime, runs_once=runs_once):
                known |= zip(computed, runtime.execute(list(inputs.values())), strict=True)
        finally:
            model.graph.outputs[:] = outputs
    return [known[str(value.name)] for value in wanted]


def run(
    model: onnx_ir.Model, inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any], original: OnnxFile | None = None
) -> list[NDArray[Any]]:
    """Return the outputs of the model; `original` is as for `activated`. Raises RefusedError, CrashedError."""
    with activated(model, runtime, original):
        return runtime.execute(list(inputs.values()))


@contextmanager
def activated(
    model: onnx_ir.Model, runtime: Runtime[Any], original: OnnxFile | None = None, *, runs_once: bool = False
) -> Iterator[None]:
    """Load the model into the runtime during the context, with every TopK sorted. External data stay in their folder.

    The runtime reads the `original` file itself, if it is given, unless a TopK has to be sorted. If it refuses that file, it
    gets the model as loaded, without formal faults.

    Raises RefusedError, CrashedError; OSError if the model cannot be written to TMPDIR.
    """
    with scratch() as directory, runtime:
        if original is None or any(_unsorted(model)) or not _takes(runtime, original):
            path, data = directory / "model.onnx", folder_of_data(model)
            with _sorted(model):
                onnx_ir.save(model, path, external_data=None if data else "model.data")
            runtime.activate(OnnxFile(path, data, runs_once))
        yield


def _takes(runtime: Runtime[Any], file: OnnxFile) -> bool:
    """Activate a file, and return True unless the runtime refuses it. Raises CrashedError."""
    try:
        runtime.activate(file)
    except RefusedError:
        return False
    return True


def _unsorted(model: onnx_ir.Model) -> Iterator[onnx_ir.Node]:
    """Return each TopK whose results may be in any order, also in bodies."""
    nodes = (node for node in model.graph.all_nodes() if node.op_type == "TopK" and not node.domain)
    return (node for node in nodes if not attribute(node, "sorted", 1))


@contextmanager
def _sorted(model: onnx_ir.Model) -> Iterator[None]:
    """Make every TopK return sorted results for the duration of the context, as conversions do."""
    given = {node: node.attributes.pop("sorted") for node in _unsorted(model)}
    try:
        yield
    finally:
        for node, attribute in given.items():
            node.attributes.add(attribute)


def folder_of_data(model: onnx_ir.Model) -> Path | None:
    """Return the folder that locations of external data are relative to; None if there are no external data."""
    return next((Path(tensor.base_dir) for tensor in external_tensors(model)), None)


def _array(constant: onnx_ir.TensorProtocol) -> NDArray[Any]:
    """Convert a constant to an array as onnxruntime represents it, with strings as text instead of bytes."""
    array = constant.numpy()
    if constant.dtype is not onnx_ir.DataType.STRING:
        return array
    return np.array([bytes(word).decode() for word in array.ravel()], object).reshape(array.shape)

"""The intermediate values of an ONNX model as onnxruntime computes them: the operands and the output of every gather."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray
from onnx_ir.passes.common import InlinePass

from ov_gather.files import scratch
from ov_gather.ops.onnx_nodes import GATHERS
from ov_gather.runtimes.base import Runtime
from ov_gather.runtimes.onnx_file import OnnxFile

BATCH = 16
"""The number of gathers whose tensors are computed, and held, at once."""


@dataclass(frozen=True, slots=True)
class GatherTensors:
    """The operands and the output of a gather. `constant` tells of each operand whether the model gives it."""

    node: onnx_ir.Node
    operands: tuple[NDArray[Any], NDArray[Any]]
    constant: tuple[bool, bool]
    output: NDArray[Any]


def load(path: Path) -> onnx_ir.Model:
    """Load a model and inline its functions. Raises ValueError where the file is not a model."""
    with _naming(str(path)):
        return _prepared(onnx_ir.load(path))


def from_proto(proto: onnx.ModelProto) -> onnx_ir.Model:
    """Take a model that is in memory, and inline its functions. Raises ValueError where it is none."""
    with _naming("onnx.ModelProto"):
        return _prepared(onnx_ir.from_proto(proto))


def from_bytes(content: bytes) -> onnx_ir.Model:
    """Read a model from its bytes, and inline its functions. Raises ValueError where they are none."""
    with _naming("bytes"):
        return _prepared(onnx_ir.from_proto(onnx.ModelProto.FromString(content)))


def _prepared(model: onnx_ir.Model) -> onnx_ir.Model:
    return InlinePass()(model).model if model.functions else model


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """While this lasts, what is wrong with a model becomes a ValueError that names its source."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # what protobuf and onnx-ir raise has no common base
        raise ValueError(f"{source}: not a valid ONNX model: {error}") from error


def gathers(model: onnx_ir.Model) -> tuple[list[onnx_ir.Node], list[onnx_ir.Node]]:
    """Find the gathers of the graph itself, and those in bodies (If, Loop, Scan), whose tensors cannot be had."""
    found = [node for node in model.graph.all_nodes() if node.op_type in GATHERS and not node.domain]
    return [node for node in found if node.graph is model.graph], [node for node in found if node.graph is not model.graph]


def tensors_of(
    model: onnx_ir.Model, nodes: Sequence[onnx_ir.Node], inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any]
) -> Iterator[GatherTensors]:
    """Yield the tensors of each gather for these inputs. Raises RefusedError, CrashedError."""
    for start in range(0, len(nodes), BATCH):
        batch = nodes[start : start + BATCH]
        wanted = [value for node in batch for value in (*node.inputs, node.outputs[0]) if value is not None]
        tensors = iter(values(model, wanted, inputs, runtime))
        for node in batch:
            data, indices, output = next(tensors), next(tensors), next(tensors)
            constant = tuple(value is not None and _constant(value) is not None for value in node.inputs)
            yield GatherTensors(node, (data, indices), (constant[0], constant[1]), output)


def values(
    model: onnx_ir.Model, wanted: Sequence[onnx_ir.Value], inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any]
) -> list[NDArray[Any]]:
    """Compute some values of the graph for these inputs. Raises RefusedError, CrashedError."""
    known = dict(inputs)
    for value in wanted:
        constant = _constant(value)
        if constant is not None:
            known[str(value.name)] = _array(constant)
    computed = {str(value.name): value for value in wanted if value.name not in known}
    if computed:
        outputs = list(model.graph.outputs)
        model.graph.outputs[:] = list(computed.values())
        try:
            known |= zip(computed, run(model, inputs, runtime), strict=True)
        finally:
            model.graph.outputs[:] = outputs
    return [known[str(value.name)] for value in wanted]


def run(model: onnx_ir.Model, inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any]) -> list[NDArray[Any]]:
    """Compute the model's outputs. Raises RefusedError, CrashedError."""
    with activated(model, runtime):
        return runtime.execute(list(inputs.values()))


@contextmanager
def activated(model: onnx_ir.Model, runtime: Runtime[Any]) -> Iterator[None]:
    """Load the model into the runtime for as long as the context lasts. External data stay where they are.

    What a TopK may give in any order is sorted, as by conversions.

    Raises RefusedError, CrashedError; OSError where the model cannot be written to TMPDIR.
    """
    with scratch() as directory, runtime:
        path, data = directory / "model.onnx", folder_of_data(model)
        with _sorted(model):
            onnx_ir.save(model, path, external_data=None if data else "model.data")
        runtime.activate(OnnxFile(path, data))
        yield


@contextmanager
def _sorted(model: onnx_ir.Model) -> Iterator[None]:
    """While this lasts, every TopK sorts."""
    given = {node: node.attributes.pop("sorted") for node in model.graph.all_nodes() if "sorted" in _of_top_k(node)}
    try:
        yield
    finally:
        for node, attribute in given.items():
            node.attributes.add(attribute)


def _of_top_k(node: onnx_ir.Node) -> Collection[str]:
    return node.attributes if node.op_type == "TopK" and not node.domain else ()


def folder_of_data(model: onnx_ir.Model) -> Path | None:
    """Tell which folder the places of external data are relative to; None where there are no external data."""
    values = (value for graph in model.graphs() for value in graph.initializers.values())
    tensors = (value.const_value for value in values)
    return next((Path(tensor.base_dir) for tensor in tensors if isinstance(tensor, onnx_ir.ExternalTensor)), None)


def _array(constant: onnx_ir.TensorProtocol) -> NDArray[Any]:
    """Make an array as onnxruntime takes it: strings are text, not bytes."""
    array = constant.numpy()
    if constant.dtype is not onnx_ir.DataType.STRING:
        return array
    return np.array([bytes(word).decode() for word in array.ravel()], object).reshape(array.shape)


def _constant(value: onnx_ir.Value) -> onnx_ir.TensorProtocol | None:
    return onnx_ir.convenience.get_const_tensor(value)

"""Loading and checking of ONNX models."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx
import onnx_ir

from ov_gather.ops.onnx_nodes import AHEAD, GATHERS, SCATTERS, attribute
from ov_gather.system.files import overwritten
from ov_gather.system.kinds import LFS_ADVICE, LFS_REASON, is_lfs_pointer

from .errors import ConversionError, describe
from .external_data import check_locations, check_sizes, external_tensors, top_graphs, unmap_unused
from .formalities import correct
from .graphs import bodies_of, nodes_of
from .refusals import refuse_endless
from .sparse import dense

OnnxSource = str | os.PathLike[str] | bytes | onnx.ModelProto
_IN_MEMORY = bytes | onnx.ModelProto


def load(source: OnnxSource) -> onnx_ir.Model:
    """Load and check a model; its external data is memory-mapped.

    Raises:
        ConversionError: it is not a valid ONNX model.
        OSError: a file cannot be read.
        TypeError: the source is no path, bytes or `onnx.ModelProto`.
    """
    if not isinstance(source, str | os.PathLike | _IN_MEMORY):
        raise TypeError(f"an ONNX model is a path, bytes, or an onnx.ModelProto, not {type(source).__name__}")
    if not isinstance(source, _IN_MEMORY) and not Path(source).is_file():
        raise FileNotFoundError(f"{os.fspath(source)}: no such file")
    if not isinstance(source, _IN_MEMORY) and is_lfs_pointer(source):
        raise ConversionError(f"{LFS_REASON}; {LFS_ADVICE}")
    if not isinstance(source, _IN_MEMORY) and os.fspath(source).encode(errors="ignore").decode() != os.fspath(source):
        raise ConversionError("the path is not UTF-8, and ONNX can open no other: rename it")
    try:
        given = onnx.ModelProto.FromString(source) if isinstance(source, bytes) else source
        model = _read(given, _corrected(given))
        check_sizes(model)
        _open_negative_dims(model)
        onnx_ir.to_proto(model)  # raises if a name is not UTF-8
    except Exception as error:  # onnx, protobuf and onnx-ir raise errors without a common base
        reason: BaseException = error
        while reason.__cause__ is not None:
            reason = reason.__cause__
        first_line = str(reason).strip().partition("\n")[0]
        raise ConversionError(f"not a valid ONNX model: {first_line}") from error
    refuse_endless(model)
    for node in nodes_of(model, *GATHERS, *SCATTERS):
        _check_types(node, model.opset_imports[""])
    for node in nodes_of(model, *AHEAD):
        _check_bodies(node)
    return model


def _read(source: str | os.PathLike[str] | onnx.ModelProto, proto: onnx.ModelProto) -> onnx_ir.Model:
    """Read a checked model, whose external data is beside its source."""
    if isinstance(source, onnx.ModelProto):
        check_locations(proto, Path())
        return onnx_ir.from_proto(dense(proto))
    proto = dense(proto)
    check_locations(proto, Path(source).parent)
    model = onnx_ir.from_proto(proto)
    for graph in top_graphs(model):
        onnx_ir.external_data.set_base_dir(graph, Path(source).parent)
    unmap_unused(model)
    return model


@contextmanager
def naming(source: object) -> Iterator[None]:
    """Prefix the file's path to every ConversionError raised in the block."""
    try:
        yield
    except ConversionError as error:
        if not isinstance(source, str | os.PathLike):
            raise
        raise type(error)(f"{os.fspath(source)}: {error}") from error


def refuse_to_overwrite(source: OnnxSource, model: onnx_ir.Model, *outputs: Path) -> None:
    """Raise ConversionError if an output is one of the files that a model is read from: the .onnx and its external data."""
    files = {Path(tensor.path) for tensor in external_tensors(model)}
    if not isinstance(source, _IN_MEMORY):
        files.add(Path(source))
    if found := overwritten(outputs, files):
        raise ConversionError(f"writing {found[0]} would overwrite a part of the model; choose another name")


_TOLERATED = ("Field 'shape' of 'type' is required but missing", "Field 'type' of 'value_info' is required but missing")


def _corrected(source: str | os.PathLike[str] | onnx.ModelProto) -> onnx.ModelProto:
    """Run ONNX's checker, and return the model; formal faults that it refuses are corrected, and it runs again."""
    proto = source if isinstance(source, onnx.ModelProto) else onnx.load(source, load_external_data=False)
    try:
        onnx.checker.check_model(source)
    except onnx.checker.ValidationError as error:
        corrected = onnx.ModelProto()
        corrected.CopyFrom(proto)
        correct(corrected)
        if corrected == proto and not any(words in str(error) for words in _TOLERATED):
            raise
        _check_leniently(corrected)
        return corrected
    return proto


def _check_leniently(model: onnx.ModelProto) -> None:
    """Run ONNX's checker, but accept inputs and outputs of unknown rank, and outputs without a type, as onnxruntime does."""
    proto = onnx.ModelProto()
    proto.CopyFrom(model)
    if untyped := [value.name for value in proto.graph.input if not value.HasField("type")]:
        raise ValueError(f"input '{untyped[0]}' has no type: declare its element type and shape")
    inputs = {value.name for value in proto.graph.input}
    tensors = list(proto.graph.initializer)
    proto.graph.ClearField("initializer")
    for tensor in tensors:
        if not onnx.external_data_helper.uses_external_data(tensor):
            proto.graph.initializer.append(tensor)
        elif tensor.name not in inputs:  # the checker would look for its file in the working directory
            proto.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    proto.graph.ClearField("value_info")
    for value in (*proto.graph.input, *proto.graph.output):
        if not value.HasField("type"):
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.shape.SetInParent()
    onnx.checker.check_model(proto)


def _open_negative_dims(model: onnx_ir.Model) -> None:
    """Make dimensions of -1 dynamic: some exporters write -1, and onnxruntime and OpenVINO read it so."""
    of_functions = (graph for function in model.functions.values() for graph in (function.graph, *function.subgraphs()))
    for graph in (*model.graphs(), *of_functions):
        for value in (*graph.inputs, *(output for node in graph for output in node.outputs)):
            if value.shape is not None and any(isinstance(dim, int) and dim < 0 for dim in value.shape):
                value.shape = onnx_ir.Shape([None if isinstance(dim, int) and dim < 0 else dim for dim in value.shape])


def _check_bodies(node: onnx_ir.Node) -> None:
    """Check that bodies have enough inputs and outputs for the node, which ONNX's checker leaves to shape inference."""
    ahead, more_outputs = AHEAD[node.op_type]
    inputs, outputs = ahead + attribute(node, "num_scan_inputs", 0), len(node.outputs) + more_outputs
    for name, body in bodies_of(node):
        if not inputs <= len(body.inputs) <= len(node.inputs) or len(body.outputs) < outputs:
            found = f"{name} has {len(body.inputs)} inputs and {len(body.outputs)} outputs"
            raise ConversionError(f"{describe(node)}: {found}, which do not fit those of the node")


def _check_types(node: onnx_ir.Node, opset: int) -> None:
    """Check the types of inputs against the operator's schema, which ONNX's checker leaves to shape inference.

    Indices may be int32 in every operator, as OpenVINO takes them.
    """
    schema = onnx.defs.get_schema(node.op_type, opset)
    for given, value in zip(schema.inputs, node.inputs, strict=True):
        if value is None or value.dtype is None or f"tensor({value.dtype.name.lower()})" in given.types:
            continue
        if given.name == "indices" and value.dtype is onnx_ir.DataType.INT32:
            continue
        known = ", ".join(sorted(kind.removeprefix("tensor(").removesuffix(")") for kind in given.types))
        raise ConversionError(
            f"{describe(node)}: {given.name} must not be {value.dtype.name.lower()}; "
            f"{node.op_type}-{schema.since_version} takes {known}"
        )

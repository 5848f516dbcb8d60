"""ONNX models compiled to callables, on OpenVINO with our extension."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import onnx_ir
from numpy.typing import NDArray
from onnx_ir.passes.common import RemoveUnusedNodesPass

from ov_gather.extension.users import Given, loaded

from .calls import port_of
from .finishing import finish
from .graphs import inputs_of, is_used, uses_of
from .inexactness import LossyConversionWarning, altered_constants, find_inexactness, is_preserved, summaries
from .legalize import legalize
from .loading import OnnxSource, load, naming
from .models import read
from .moves import is_index, is_only_bound, is_read
from .passes.empty_constants import lost_constants
from .passes.lanes import travel_in_lanes
from .refusals import refuse_nested

if TYPE_CHECKING:
    from .compiled import CompiledModel

_TARGET = "extension"


def compile_onnx(model: OnnxSource, device: str = "CPU", *, extensions: Iterable[Given] = ()) -> CompiledModel:
    """Compile an ONNX model for OpenVINO with our extension, so that every gather behaves as ONNX specifies.

    64-bit integers and floats, complex numbers and float16 keep every bit if the model only moves them. Arithmetic on 64-bit
    integers must fit in 32 bits.

    Args:
        model: path of the .onnx (with external data beside it), its bytes, or an `onnx.ModelProto`.
        device: OpenVINO device. The operations of our extension execute on the CPU.
        extensions: libraries, "module:Class" or classes of `openvino.Op` with operations of yours, and their conversions.

    Returns:
        A callable that takes a dict of arrays by input name, or arrays by position or keyword, and returns arrays by output
            name.

    Warns:
        LossyConversionWarning: OpenVINO does not execute a part of the model as ONNX specifies; one warning per kind, which
            names the nodes.

    Raises:
        ConversionError: the file is not a valid ONNX model, or a node of it cannot be converted; the message names it.
        TypeError: `model`, `device` or an extension is of another type.
        ValueError: an extension cannot be loaded.
        OSError: a file cannot be read.
    """
    if not isinstance(device, str):
        raise TypeError(f"compile_onnx: device must be a name such as 'CPU', not {device!r}")
    from .compiled import CompiledModel

    known = loaded(extensions)
    with naming(model):
        original = load(model)
        refuse_nested(original)
        legalize(original, target=_TARGET)
        RemoveUnusedNodesPass()(original)  # unused nodes would count as consumers of the inputs
        inputs, outputs = (list(map(port_of, side)) for side in (inputs_of(original), original.graph.outputs))
        for value in [value for value in original.graph.inputs if not is_used(value)]:
            original.graph.inputs.remove(value)  # OpenVINO's front end keeps some, and callers would have to feed them
        travel = travel_in_lanes(original, stock=False)
        carried = _carry_constants(original)
        index_inputs = {
            str(value.name)
            for value in original.graph.inputs
            if any(is_index(*use) for use in uses_of(value, passes=lambda node, position: True))
        }
        unread_inputs = {str(value.name) for value in original.graph.inputs if not is_read(value)}
        bounds = {str(value.name) for value in original.graph.inputs if is_used(value) and is_only_bound(value)}
        inexactness = find_inexactness(original, target=_TARGET, checks_inputs=True)
        converted = read(original, _TARGET, known)
        inexactness += finish(converted)[1]
        compiled = CompiledModel(converted, inputs, outputs, travel, carried, index_inputs, unread_inputs, bounds, device)
    for summary in summaries(inexactness):
        warnings.warn(summary, LossyConversionWarning, stacklevel=2)
    return compiled


def _carry_constants(model: onnx_ir.Model) -> dict[str, NDArray[Any]]:
    """Replace constants that OpenVINO alters by inputs, which it leaves alone; return the arrays to feed them."""
    graph, carried = model.graph, {}
    empty = [
        (value, tensor.numpy().astype(object))
        for value, tensor in lost_constants(model)
        if tensor.dtype is onnx_ir.DataType.STRING
    ]
    for value, array in [*altered_constants(model), *empty]:
        if value.graph is not graph or value.is_graph_output() or not is_preserved(array, constant=False):
            continue
        given = onnx_ir.Value(name=f"{value.name}.carried", shape=onnx_ir.Shape(array.shape), type=value.type)
        value.replace_all_uses_with(given)
        graph.inputs.append(given)
        carried[str(given.name)] = array
    return carried

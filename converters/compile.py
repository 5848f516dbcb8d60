"""An ONNX model as a function, on OpenVINO with our extension."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import onnx_ir
from numpy.typing import NDArray
from onnx_ir.passes.common import RemoveUnusedNodesPass

from .calls import port_of
from .graphs import inputs_of, is_used, uses_of
from .inexactness import LossyConversionWarning, altered_constants, find_inexactness, summaries, survives
from .legalize import legalize
from .loading import OnnxSource, load, naming
from .models import read
from .moves import is_index, is_only_bound, is_read
from .passes.empty_constants import lost_constants
from .passes.lanes import travel_in_lanes
from .refusals import refuse_nested
from .ties import keep_order_of_ties

if TYPE_CHECKING:
    from .compiled import CompiledModel

_TARGET = "extension"


def compile_onnx(model: OnnxSource, device: str = "CPU") -> CompiledModel:
    """Compile an ONNX model for OpenVINO with our extension, so that every gather does what ONNX says.

    Numbers of 64 bits, complex numbers and float16 that the model only moves keep every bit. What is computed with 64-bit
    integers must fit in 32 bits.

    Args:
        model: path of the .onnx (with external data beside it), its bytes, or an `onnx.ModelProto`.
        device: of OpenVINO. Our operations execute on the CPU.

    Returns:
        A callable: it takes a dict of arrays by input name, or the arrays by position or keyword, and returns arrays by output
        name.

    Warns:
        LossyConversionWarning: something will not be executed as ONNX says; one warning for each kind, which names the nodes.

    Raises:
        ConversionError: the file is not a valid ONNX model, or a node of it cannot be converted; the message names it.
        OSError: a file cannot be read.
    """
    from ov_gather.acceleration.compressed import keep_compressed
    from ov_gather.acceleration.proved_gathers import use_stock_where_proved
    from ov_gather.acceleration.shield_selects import shield_selects

    from .compiled import CompiledModel

    with naming(model):
        original = load(model)
        refuse_nested(original)
        legalize(original, target=_TARGET)
        RemoveUnusedNodesPass()(original)  # they would count among what computes with the inputs
        inputs, outputs = (list(map(port_of, side)) for side in (inputs_of(original), original.graph.outputs))
        _drop_unused_inputs(original.graph)
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
        converted = read(original, _TARGET)
        keep_order_of_ties(converted)
        use_stock_where_proved(converted)
        keep_compressed(converted)
        shield_selects(converted)
        compiled = CompiledModel(converted, inputs, outputs, travel, carried, index_inputs, unread_inputs, bounds, device)
    for summary in summaries(inexactness):
        warnings.warn(summary, LossyConversionWarning, stacklevel=2)
    return compiled


def _drop_unused_inputs(graph: onnx_ir.Graph) -> None:
    """Drop inputs that nothing uses: OpenVINO's front end would keep some, and the caller could not leave them out."""
    for value in list(graph.inputs):
        if not is_used(value):
            graph.inputs.remove(value)


def _carry_constants(model: onnx_ir.Model) -> dict[str, NDArray[Any]]:
    """Make inputs of the constants that OpenVINO alters, where it leaves inputs alone; the arrays to feed them."""
    graph, carried = model.graph, {}
    empty = [
        (value, tensor.numpy().astype(object))
        for value, tensor in lost_constants(model)
        if tensor.dtype is onnx_ir.DataType.STRING
    ]
    for value, array in [*altered_constants(model), *empty]:
        if value.graph is not graph or value.is_graph_output() or not survives(array, constant=False):
            continue
        given = onnx_ir.Value(name=f"{value.name}.carried", shape=onnx_ir.Shape(array.shape), type=value.type)
        value.replace_all_uses_with(given)
        graph.inputs.append(given)
        carried[str(given.name)] = array
    return carried

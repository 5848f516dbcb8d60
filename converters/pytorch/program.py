"""Conversion of exported programs by OpenVINO's PyTorch front end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ConversionError, explained
from .sites import OPERATOR, IndexUse, mark
from .sources import quiet

if TYPE_CHECKING:
    import openvino
    import torch


def read_program(program: torch.export.ExportedProgram) -> tuple[openvino.Model, list[IndexUse]]:
    """Convert a program; return the model, with the program's names of inputs and outputs, and its sites of indices.

    Operations that use indices have the names of their nodes. Raises ConversionError.
    """
    try:
        from openvino.frontend import FrontEndManager
        from openvino.frontend.pytorch import ConversionExtension
        from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder
    except ImportError as error:
        raise ImportError(f"this OpenVINO has no front end for exported programs: {error}") from error
    from .translation import translate

    with quiet():
        module = TorchFXPythonDecoder.from_exported_program(program, dynamic_shapes=False).pt_module
        sites = mark(module)

        def converted(context: Any) -> list[Any]:
            number = int(context.get_values_from_const_input(context.get_input_size() - 1))
            tensors = [context.get_input(i) for i in range(context.get_input_size() - 1)]
            return [translate(sites[number], tensors)]

        front_end = FrontEndManager().load_by_framework("pytorch")
        front_end.add_extension(ConversionExtension(OPERATOR, converted))
        decoder = TorchFXPythonDecoder(module, dynamic_shapes=False)
        try:
            model = front_end.convert(front_end.load(decoder))
        except Exception as error:  # the front end raises errors without a common base
            raise ConversionError(explained(str(error), "Summary", "Model")) from None
    _name(model.inputs, program.graph_signature.user_inputs)
    _name(model.outputs, program.graph_signature.user_outputs)
    _bound_sizes(model, program)
    return model, sites


def _name(ports: Sequence[Any], names: Sequence[Any]) -> None:
    """Set the program's names of inputs or outputs; constants among them have none."""
    texts = [name for name in names if isinstance(name, str)]
    if len(ports) == len(texts):
        for port, name in zip(ports, texts, strict=True):
            port.get_tensor().set_names({name})
            if port.get_node().get_type_name() == "Parameter":
                port.get_node().set_friendly_name(name)


def _bound_sizes(model: openvino.Model, program: torch.export.ExportedProgram) -> None:
    """Bound the dynamic dimensions of inputs as the program does."""
    import openvino

    declared = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    shapes = {}
    for port in model.inputs:
        value: Any = declared.get(port.get_node().get_friendly_name())
        if hasattr(value, "shape") and any(not isinstance(size, int) for size in value.shape):
            sizes = [_dimension(size, program.range_constraints) for size in value.shape]
            shapes[port] = openvino.PartialShape(sizes)
    if shapes:
        model.reshape(shapes)


def _dimension(size: Any, bounds: Mapping[Any, Any]) -> openvino.Dimension:
    """Convert one size with its bounds. A lower bound of 2 is PyTorch's default: 0 and 1 were not traced, not refused."""
    import openvino

    if isinstance(size, int):
        return openvino.Dimension(size)
    known = bounds.get(size.node.expr)
    if known is None:
        return openvino.Dimension()
    low, high = int(known.lower), known.upper
    return openvino.Dimension(low if low > 2 else 0, int(high) if high.is_finite and high < 2**31 - 1 else -1)

"""`openvino.convert_model` with our conversion: the same arguments where they mean the same, an error where they cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ov_gather.extension.users import Given

from .models import convert_model as convert
from .pytorch.sources import is_program

if TYPE_CHECKING:
    import openvino


def convert_model(
    input_model: Any,
    input: Any = None,
    output: str | Sequence[str] | None = None,
    example_input: Any = None,
    extension: Given | Sequence[Given] | None = None,
    verbose: bool = False,
    share_weights: bool = True,
    dynamo: bool = False,
) -> openvino.Model:
    """Convert as `openvino.convert_model` does, but so that gathers do what ONNX or PyTorch specifies; warn where they do not.

    Args:
        input_model: path of the .onnx, its bytes or a BytesIO of them, or an `onnx.ModelProto`; a
            `torch.export.ExportedProgram`; or a `torch.nn.Module`, which is exported for `example_input`: its shapes are fixed.
        input: names, shapes and types of inputs, in OpenVINO's forms, such as `("ids", [1, -1])` or `{"ids": [1, -1]}`. A shape
            must lie within the one that the model declares, a type must be it.
        output: a name of an output to keep, or several; all are kept if there is none. Inputs and outputs stay in the model's
            order, as OpenVINO's of ONNX do.
        example_input: of a `torch.nn.Module`: a tensor, a tuple of arguments, or a dict of named ones.
        extension: libraries, "module:Class" or classes with operations of yours, as for `converters.convert_model`.
        verbose, share_weights, dynamo: accepted; the result is the same.

    Raises:
        ConversionError: the model cannot be converted.
        ValueError: a name, shape or type is not the model's, which OpenVINO would cut or declare anew.
        TypeError: the model is of a framework that only `openvino.convert_model` reads; or `output` is not a name.

    Warns:
        LossyConversionWarning: as `converters.convert_model`.
    """
    extensions = extension if isinstance(extension, list | tuple) else () if extension is None else (extension,)
    kept = _names(output)
    model = convert(_exported(input_model, example_input), extensions=extensions)
    if input is not None:
        _declare(model, input)
    if kept:
        _keep(model, kept)
    return model


def _names(output: Any) -> Sequence[str]:
    """Return the names of outputs. Raises TypeError."""
    names = [output] if isinstance(output, str) else () if output is None else output
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"output must be a name, or a list of names, not {output!r}")
    return names


def _exported(model: Any, example: Any) -> Any:
    """Export a `torch.nn.Module`; return other sources, of a BytesIO its bytes."""
    if isinstance(model, BytesIO):
        return model.getvalue()
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(model).__mro__}
    if "torch.nn.modules.module.Module" not in kinds:
        if example is not None and not is_program(model):
            raise ValueError("example_input is for a torch.nn.Module; ONNX models declare their inputs")
        return model
    if example is None:
        raise ValueError("a torch.nn.Module is exported for example_input: give it")
    import torch

    arguments, named = ((), example) if isinstance(example, Mapping) else (example, None)
    return torch.export.export(model.eval(), arguments if isinstance(arguments, tuple) else (arguments,), named)


def _declare(model: openvino.Model, given: Any) -> None:
    """Give the inputs the shapes that `input` describes. Raises ValueError."""
    from openvino.tools.ovc import cli_parser

    try:
        described = cli_parser.input_to_input_cut_info(given)
    except Exception as error:  # its own errors are of this class
        raise ValueError(f"input: {error}") from error
    if len(described) > len(model.inputs):
        raise ValueError(f"input describes {len(described)} inputs, and the model has {len(model.inputs)}")
    ports = [_port(model.inputs, each.name, place) for place, each in enumerate(described)]
    shapes = {}
    for port, each in zip(ports, described, strict=True):
        if each.type is not None and each.type != port.element_type:
            raise ValueError(
                f"input '{port.any_name}' is declared {port.element_type.to_string()}, not {each.type.to_string()}: use "
                "openvino.preprocess.PrePostProcessor on the result, which converts what is given"
            )
        if each.shape is not None:
            if not port.partial_shape.relaxes(each.shape):
                raise ValueError(
                    f"input '{port.any_name}' is declared {port.partial_shape}, which {each.shape} does not fit: declare "
                    "another shape in the source, as the conversion relies on it"
                )
            shapes[port] = each.shape
    if shapes:
        model.reshape(shapes)


def _keep(model: openvino.Model, names: Sequence[str]) -> None:
    """Remove outputs but those of these names. Raises ValueError."""
    kept = [_port(model.outputs, name) for name in names]
    for port in model.outputs:
        if port not in kept:
            model.remove_result(port.get_node())


def _port(ports: Sequence[Any], name: str | None, place: int = 0) -> Any:
    """Return the input or output of a name, or at a place if it has none. Raises ValueError."""
    if name is None:
        return ports[place]
    for port in ports:
        if name in port.names:
            return port
    known = ", ".join(f"'{port.any_name}'" for port in ports)
    raise ValueError(f"'{name}' is not among {known}; to cut a model at another tensor, use openvino.convert_model")

"""4xx: shapes."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.constants import has_other_size
from ov_gather.ir.model import Model, Port
from ov_gather.ir.shapes import PartialShape, listed
from ov_gather.ops.contracts.call import BadRankError, BadSizeError
from ov_gather.ops.contracts.judging import Judge, Judged
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import RankError
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.contracts import of_contract
from ov_gather.rules.fixes import Fix, SetDims
from ov_gather.rules.types import declares_other_type


@rule("OVG401", LayerView | Judged)
def input_ranks(layer: LayerView | Judged) -> Iterator[Violation]:
    """The ranks of the inputs of a layer do not fit its operation.

    For example, the indices of GatherElements must have the rank of data, and Convolution takes filters of rank 4 for images.
    No runtime can execute the layer. Correct the shape that the finding names.
    """
    return of_contract(layer, BadRankError) if isinstance(layer, Judged) else _shape_errors(layer, are_ranks=True)


@rule("OVG402", LayerView | Judged)
def input_dimensions(layer: LayerView | Judged) -> Iterator[Violation]:
    """The dimensions of the inputs of a layer do not fit its operation.

    For example, the indices of GatherElements-6 must have the sizes of data in all dimensions but the axis, and the matrices of
    MatMul the same inner size. Open dimensions fit if some size does. Correct the shape that the finding names.
    """
    return of_contract(layer, BadSizeError) if isinstance(layer, Judged) else _shape_errors(layer, are_ranks=False)


@rule("OVG403", LayerView | Judged)
def output_shape(layer: LayerView | Judged) -> Iterator[Violation]:
    """The shape of an output port of a layer differs from what the operation produces.

    OpenVINO infers its own, but other tools may trust the port. Declare what the operation produces, or correct the inputs. The
    finding is at the first layer that contradicts its port: those behind it are judged by what is certain. Outside the gather
    family, the size -1 is right for any size, since older releases infer less.
    """
    if isinstance(layer, LayerView) and not layer.types_fit:
        return
    outputs = zip(layer.output_shapes or (), layer.output_types or (), layer.layer.outputs, strict=False)
    for inferred, kind, port in outputs:
        fits = port.may_have(inferred) if isinstance(layer, LayerView) else port.allows(inferred)
        if not fits and not declares_other_type(port, kind):  # OVG304 reports the others
            message = f"declares {dims_text(port)}, but {layer.operation_name} gives {inferred} for these inputs"
            hint = f"declare the dims {listed(inferred.sizes)}"
            yield Violation.at(layer.layer, message, hint, port=port, fix=_dims(inferred.sizes))


@rule("OVG404", Judge)
def edge_shape(judge: Judge) -> Iterator[Violation]:
    """The dims of an input port differ from those of the output port that feeds it.

    OpenVINO ignores the dims of inputs, but other tools may trust them. Declare the dims of the output at both ends of the
    edge. An output port that contradicts its own layer is reported once, by OVG403 or OVG405.
    """
    hint = "declare the same dims on both ends of an edge"
    for layer, port, source, output in judge.graph.links:
        if port.dims != output.dims and not judge.is_in_doubt(source, output):
            message = f"declares {dims_text(port)}, but its producer, {source}, gives {dims_text(output)}"
            yield Violation.at(layer, message, hint, port=port, fix=_dims(output.dims))


@rule("OVG405", Model)
def declared_shape(graph: Model) -> Iterator[Violation]:
    """The shape attribute of a Parameter or Const is malformed, or differs from the dims of its output port.

    OpenVINO uses the attribute, but other tools may use the port. Make the two agree, and separate dimensions by commas.
    """
    for layer in graph.leaves:
        declared = layer.declared_shape
        if declared is None:
            try:
                PartialShape.parse(layer.attributes["shape"])
            except ValueError as error:
                yield Violation.at(layer, f"shape: {error}", "separate dimensions by commas", line=layer.data_line)
            continue
        for port in layer.outputs:
            if port.dims != declared.sizes and not has_other_size(layer):
                message = f"declares {dims_text(port)}, but the attribute shape is {declared}"
                hint = f"declare the dims {listed(declared.sizes)}, or correct shape"
                yield Violation.at(layer, message, hint, port=port, fix=_dims(declared.sizes))


def _dims(sizes: tuple[int, ...]) -> Fix:
    """Return the fix that declares these dims. It is safe: OpenVINO infers shapes, whatever ports declare."""
    return Fix(SetDims(sizes))


def _shape_errors(view: LayerView, *, are_ranks: bool) -> Iterator[Violation]:
    error = view.shape_error
    if error is not None and isinstance(error, RankError) == are_ranks:
        yield Violation.at(view.layer, error.reason, error.hint, port=view.layer.inputs[error.port])


def dims_text(port: Port) -> str:
    """Describe the dims of a port for people."""
    return f"dims {listed(port.dims)}" if port.dims else "no dims"

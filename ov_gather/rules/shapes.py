"""4xx: shapes."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.model import Model, Port
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import DimensionError, RankError, ShapeError
from ov_gather.rules.base import Violation, graph_rule, layer_rule


@layer_rule("OVG401")
def input_ranks(view: LayerView) -> Iterator[Violation]:
    """The ranks of the inputs do not fit the operation, e.g. indices of another rank than data."""
    return _shape_errors(view, RankError)


@layer_rule("OVG402")
def input_dimensions(view: LayerView) -> Iterator[Violation]:
    """The dimensions of the inputs do not fit the operation, e.g. indices that differ from data off the axis."""
    return _shape_errors(view, DimensionError)


@layer_rule("OVG403")
def output_shape(view: LayerView) -> Iterator[Violation]:
    """An output port declares another shape than the operation gives. OpenVINO silently infers its own."""
    for inferred, port in zip(view.output_shapes or (), view.layer.outputs, strict=False):
        if not fits_declaration(port, inferred):
            yield Violation(
                f"declares {dims_text(port)}, but {view.operation.name} gives {inferred} for these inputs",
                f"declare the dims {list(inferred.sizes)}",
                port.line,
                view.layer,
                port.id,
            )


@graph_rule("OVG404")
def edge_shape(graph: Model) -> Iterator[Violation]:
    """An input port declares other dims than the output port that feeds it. OpenVINO does not look at the former."""
    for layer, port, source, output in graph.links:
        if port.dims != output.dims:
            yield Violation(
                f"declares {dims_text(port)}, but its producer, {source}, gives {dims_text(output)}",
                "declare the same dims on both ends of an edge",
                port.line,
                layer,
                port.id,
            )


@graph_rule("OVG405")
def declared_shape(graph: Model) -> Iterator[Violation]:
    """The shape attribute of a Parameter is malformed, or that of a Parameter or Const is not what its port declares."""
    for layer in graph.of_type("Parameter", "Const"):
        declared = layer.declared_shape
        if declared is None:
            try:
                PartialShape.parse(layer.attributes["shape"])
            except ValueError as error:
                yield Violation(f"shape: {error}", "separate dimensions by commas", layer.data_line, layer)
            continue
        for port in layer.outputs:
            if port.dims != declared.sizes:
                yield Violation(
                    f"declares {dims_text(port)}, but the attribute shape is {declared}",
                    f"declare the dims {list(declared.sizes)}, or correct shape",
                    port.line,
                    layer,
                    port.id,
                )


def _shape_errors(view: LayerView, kind: type[ShapeError]) -> Iterator[Violation]:
    if view.attributes is None:
        return
    try:
        view.operation.infer_shapes(view.input_shapes, view.attributes)
        view.operation.restrict(view.input_shapes, view.attributes)
    except ShapeError as error:
        if isinstance(error, kind):
            port = view.layer.inputs[error.port]
            yield Violation(error.reason, error.hint, port.line, view.layer, port.id)


def fits_declaration(port: Port, inferred: PartialShape) -> bool:
    """A port must give every size that is certain, and may know a size that is not certain to us."""
    if inferred.dims is None:
        return True
    return len(port.dims) == len(inferred.dims) and all(
        not dim.is_static if size == -1 else size in dim for size, dim in zip(port.dims, inferred.dims, strict=True)
    )


def dims_text(port: Port) -> str:
    """The dims of a port, for people."""
    return f"dims {list(port.dims)}" if port.dims else "no dims"

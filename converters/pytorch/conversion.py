"""Conversion of exported programs: OpenVINO's front end, our translation of indices, and a report of departures from PyTorch.

PyTorch raises for every index out of bounds. Gathers and scatters along one dimension raise for negative ones, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.extension.users import UserExtension, is_class
from ov_gather.ir.element_types import F64, by_name

from ..errors import ConversionError
from ..finishing import Conversion, finish, record
from ..inexact_nodes import FLOATS, narrowing
from ..inexactness import LOST_NAN, OUT_OF_BOUNDS, Inexactness, is_preserved
from ..legalize import TARGETS
from ..loading import naming
from ..passes.rewriter import Rewrite
from .refusals import refusal, undecomposed
from .sites import OPERATOR, IndexUse, mark, padded_bags
from .sources import Program, load_program, quiet
from .translation import FAR, refusing_negative, translate

if TYPE_CHECKING:
    import openvino
    import torch

    from ov_gather.ranges.proof import Proof
    from ov_gather.ranges.sites import Site


def convert_program(
    source: Program,
    *,
    target: str = "stock",
    assume_in_bounds: bool = False,
    trust: bool = False,
    extensions: tuple[UserExtension, ...] = (),
) -> Conversion:
    """Convert an exported program, or the .pt2 that holds one, like `convert_model`."""
    if target not in TARGETS:
        raise ValueError(f"target '{target}' is unknown: {' or '.join(TARGETS)}")
    program = load_program(source, trust)
    with naming(source):
        model, sites, ignored = _read(program, [each.name for each in extensions if not is_class(each.name)])
    rewrites = [Rewrite(str(site), _TRANSLATED[site.kind], True) for site in sites if site.kind in _TRANSLATED]
    finished, left = finish(model)
    rewrites += finished
    known = {site.name: site for site in sites}
    inexactness = [*_narrowed(model), *ignored, *left]
    if target == "stock" and not assume_in_bounds:
        inexactness += _unchecked(model, known)
    elif target == "extension":
        rewrites += _checked(model, known)
    inexactness += _reducing(model, known)
    record(model, target, inexactness)
    return Conversion(model, rewrites, inexactness)


_TRANSLATED = {
    "pick": "coordinates become a GatherND: OpenVINO's front end lets them run into the next row",
    "put": "coordinates become a ScatterNDUpdate: OpenVINO's front end lets them wrap around",
    "put_masked": "becomes a ScatterNDUpdate: OpenVINO's front end refuses values that are broadcast to the places",
    "add_slices": "becomes a ScatterElementsUpdate",
    "fill_slices": "becomes a ScatterElementsUpdate: OpenVINO's front end writes a number of another type",
}


def _narrowed(model: openvino.Model) -> Iterator[Inexactness]:
    """Yield the inputs and constants that OpenVINO's CPU plugin narrows to 32 bits."""
    for port in model.inputs:
        element_type = by_name(port.get_element_type().get_type_name())
        if element_type in NARROWED_BY_CPU:
            yield Inexactness(f"input '{port.get_any_name()}'", narrowing(element_type))
    for node in model.get_ops():
        if node.get_type_name() == "Constant" and by_name(node.get_element_type().get_type_name()) is F64:
            array = np.asarray(node.data)
            if not is_preserved(array, constant=True):
                yield Inexactness(f"constant '{node.get_friendly_name()}'", narrowing(F64))


def _proved(model: openvino.Model) -> Iterator[tuple[Any, Site, Proof]]:
    """Yield each node that reads or writes at an index, with the proof of its indices."""
    from ov_gather.ranges.analysis import Assumption
    from ov_gather.ranges.proofs import prove_sites
    from ov_gather.ranges.prove import graph_of
    from ov_gather.ranges.rules.call import CPU_PLUGIN

    graph = graph_of(model)
    proofs = prove_sites(graph, CPU_PLUGIN, Assumption(), graph.sites)
    for (node, site), proof in zip(graph.nodes_with_sites, proofs, strict=True):
        yield node.handle, site, proof


def _may_be_negative(site: IndexUse | None, proof: Proof) -> bool:
    """Return True if an index may be negative, which PyTorch refuses and OpenVINO counts from the end."""
    low = proof.index_range[0]
    return site is not None and site.refuses_negative and not (isinstance(low, int | float) and low >= 0)


def _unchecked(model: openvino.Model, sites: dict[str, IndexUse]) -> Iterator[Inexactness]:
    from ov_gather.acceleration.guards import raises_by_itself

    for node, site, proof in _proved(model):
        use, kind = sites.get(node.get_friendly_name()), node.get_type_name()
        place = str(use) if use else f"{kind} '{proof.layer}'"
        if _may_be_negative(use, proof):
            yield Inexactness(place, "an index below 0 counts from the end; target extension raises, as PyTorch does")
        instead = OUT_OF_BOUNDS.get(kind, site.outside)
        if instead and proof.status != "proved" and not raises_by_itself(node):
            checked = "target extension raises" if site.can_be_checked else "nothing checks it"
            yield Inexactness(place, f"an index out of bounds {instead}; {checked}")


def _reducing(model: openvino.Model, sites: dict[str, IndexUse]) -> Iterator[Inexactness]:
    """Yield the scatters of OpenVINO's own that lose NaN in max and min, or round means otherwise.

    Ours, for the target extension, keep NaN, and leave means to OpenVINO.
    """
    from ov_gather.acceleration.graph import is_ours, is_scatter

    for node in model.get_ops():
        if not is_scatter(node) or is_ours(node):
            continue
        name, reduction = node.get_friendly_name(), node.get_attributes().get("reduction")
        place = str(sites.get(name, f"{node.get_type_name()} '{name}'"))
        if reduction in ("max", "min") and by_name(node.get_element_type().get_type_name()) in FLOATS:
            yield Inexactness(place, LOST_NAN)
        if reduction == "mean" and node.get_element_type().is_signed() and node.get_element_type().is_integral_number():
            yield Inexactness(place, "a mean of integers is rounded towards 0, which PyTorch rounds down")


def _checked(model: openvino.Model, sites: dict[str, IndexUse]) -> Sequence[Rewrite]:
    """Make the model raise for indices that PyTorch refuses."""
    from ov_gather.acceleration.graph import INDICES
    from ov_gather.acceleration.harden import harden

    rewrites = []
    for node, _, proof in list(_proved(model)):
        site = sites.get(node.get_friendly_name())
        if _may_be_negative(site, proof):
            node.input(INDICES).replace_source_output(refusing_negative(node.input_value(INDICES)))
            rewrites.append(Rewrite(str(site), f"an index below 0 becomes one that is out of bounds: {FAR}", True))
    model.validate_nodes_and_infer_types()
    for changed in harden(model, policy="raise").changed:
        rewrites.append(Rewrite(str(sites.get(changed.layer, f"{changed.operation} '{changed.layer}'")), changed.done, True))
    return rewrites


def _read(
    program: torch.export.ExportedProgram, libraries: Sequence[str]
) -> tuple[openvino.Model, list[IndexUse], list[Inexactness]]:
    """Convert a program; return the model with the program's names, its sites of indices, and what the front end ignores.

    `libraries` may convert more operators. Operations that use indices have the names of their nodes. Raises ConversionError.
    """
    try:
        from openvino.frontend import FrontEndManager
        from openvino.frontend.pytorch import ConversionExtension
        from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder
    except ImportError as error:
        raise ImportError(f"this OpenVINO has no front end for exported programs: {error}") from error

    with quiet():
        try:
            module = TorchFXPythonDecoder.from_exported_program(program, dynamic_shapes=False).pt_module
        except Exception as error:  # PyTorch raises errors without a common base
            raise ConversionError(undecomposed(str(error))) from error
        sites = mark(module)
        ignored = [
            Inexactness(place, "rows of padding_idx are added, which PyTorch leaves out") for place in padded_bags(module)
        ]

        def converted(context: Any) -> list[Any]:
            number = int(context.get_values_from_const_input(context.get_input_size() - 1))
            tensors = [context.get_input(i) for i in range(context.get_input_size() - 1)]
            return [translate(sites[number], tensors)]

        front_end = FrontEndManager().load_by_framework("pytorch")
        front_end.add_extension(ConversionExtension(OPERATOR, converted))
        for library in libraries:
            front_end.add_extension(library)
        decoder = TorchFXPythonDecoder(module, dynamic_shapes=False)
        try:
            model = front_end.convert(front_end.load(decoder))
        except Exception as error:  # the front end raises errors without a common base
            raise ConversionError(refusal(str(error), module, sites)) from None
    _set_names(model.inputs, program.graph_signature.user_inputs)
    _set_names(model.outputs, program.graph_signature.user_outputs)
    _bound_sizes(model, program)
    return model, sites, ignored


def _set_names(ports: Sequence[Any], names: Sequence[Any]) -> None:
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

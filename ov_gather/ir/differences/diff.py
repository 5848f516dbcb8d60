"""`diff`: the semantic differences of two IRs, independent of ids, names and the order of layers."""

from __future__ import annotations

from ov_gather.ir.differences.changes import Differences
from ov_gather.ir.differences.comparison import LayerComparison
from ov_gather.ir.differences.graph import GraphMaker
from ov_gather.ir.differences.interfaces import named_roles
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, WeightsSource, read_ir


@paused_collection()
def diff(a: Source | Model, b: Source | Model, *, weights: tuple[WeightsSource, WeightsSource] = (None, None)) -> Differences:
    """Return the differences between two IRs: operations, attributes, connections, element types, shapes and constants.

    Layers are matched by what they compute and how they are connected, including those in bodies of If, Loop and
    TensorIterator. Ids, names, the order of layers and the sharing of Consts are ignored. Inputs are matched by name if both
    models have the same input names; outputs likewise. Metadata (rt_info) is not compared.

    Args:
        a: what `read_ir` takes, or what it returns.
        b: the same for the other model.
        weights: for each model, path or bytes of the .bin if it is not beside the .xml.

    Returns:
        Differences with `.changes`, `.consequences` (types and shapes that follow from a change) and `.passed`.

    Raises:
        IRError: a document, or a constant of it, cannot be read.
        OSError: a file cannot be opened.
    """
    models = [
        source if isinstance(source, Model) else read_ir(source, given) for source, given in zip((a, b), weights, strict=True)
    ]
    maker = GraphMaker()
    first, second = (maker.make(model, roles) for model, roles in zip(models, named_roles(*models), strict=True))
    found = LayerComparison(maker, first, second)
    return Differences(tuple(found.changes), tuple(found.consequences), found.same)

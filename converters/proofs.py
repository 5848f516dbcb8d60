"""`prove_onnx` tells of every gather and scatter of an ONNX model whether its indices can be out of bounds."""

from __future__ import annotations

from collections.abc import Mapping

from ov_gather.ranges.proofs import Proof, prove_sites
from ov_gather.ranges.prove import Limits, assumption
from ov_gather.ranges.rules.call import ONNX

from .analysed_graph import AnalysedGraph
from .loading import OnnxSource, load, naming
from .passes.inline_functions import inline_functions
from .shape_inference import infer_shapes


def prove_onnx(source: OnnxSource, *, assume: Mapping[str, Limits] | None = None) -> list[Proof]:
    """Prove of every Gather, GatherElements, GatherND and Scatter* whether its indices can be out of bounds, as ONNX says.

    Args:
        source: path of the .onnx (with external data beside it), its bytes, or an `onnx.ModelProto`.
        assume: for names of inputs, and of open dimensions, the least and the greatest value that is taken for granted; None is
            no bound. A dimension is "dim(batch)", or "dim(x, 1)" where the model does not name it.

    Returns:
        A Proof for each site, those of bodies and functions included.

    Raises:
        ConversionError: the file is not a valid ONNX model.
        OSError: a file cannot be read.
        ValueError: `assume` names what the model does not have, or contradicts itself or the model.
    """
    return prove_graph(analysed(source), assume=assume)


def prove_graph(graph: AnalysedGraph, *, assume: Mapping[str, Limits] | None = None) -> list[Proof]:
    """Prove as `prove_onnx` does, of what `analysed` returns."""
    return prove_sites(graph, ONNX, assumption(graph, assume or {}), graph.sites)


def analysed(source: OnnxSource) -> AnalysedGraph:
    """Read a model, and make of it what the analysis goes through. Raises ConversionError, OSError."""
    with naming(source):
        model = load(source)
        inline_functions(model)
    infer_shapes(model)
    return AnalysedGraph(model)

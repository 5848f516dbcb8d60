"""Proofs that the indices in an ONNX model are in bounds."""

from __future__ import annotations

from collections.abc import Mapping

from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.proofs import prove_sites
from ov_gather.ranges.prove import Limits, assumption
from ov_gather.ranges.rules.call import ONNX

from .loading import OnnxSource, load, naming
from .onnx_graph import ONNX_OPERATORS, OnnxGraph
from .passes.inline_functions import inline_functions
from .passes.rewriter import Rewriter
from .passes.standard_domain import standard_domain
from .passes.token_positions import token_positions
from .ranges import Ranges
from .shape_inference import infer_shapes


def prove_onnx(source: OnnxSource, *, assume: Mapping[str, Limits] | None = None) -> list[Proof]:
    """Prove for every gather, scatter and other operator that reads at an index whether one can be out of bounds in ONNX.

    Args:
        source: path of the .onnx (with external data beside it), its bytes, or an `onnx.ModelProto`.
        assume: lower and upper bound to assume, by name of an input or dynamic dimension; None is no bound. A dimension is
            "dim(batch)", or "dim(x, 1)" if the model does not name it.

    Returns:
        A Proof for each site, including those in bodies and functions.

    Raises:
        ConversionError: the file is not a valid ONNX model.
        OSError: a file cannot be read.
        ValueError: `assume` has a name that the model lacks, or contradicts itself or the model.
    """
    return prove_graph(analysed(source), assume=assume)


def prove_graph(graph: AnalysedGraph, *, assume: Mapping[str, Limits] | None = None, with_paths: bool = False) -> list[Proof]:
    """Prove like `prove_onnx`, for a model prepared by `analysed`; `with_paths` adds how the indices are computed."""
    return prove_sites(graph, ONNX, assumption(graph, assume or {}), graph.sites, with_paths=with_paths)


def analysed(source: OnnxSource) -> AnalysedGraph:
    """Load a model and prepare it for the analysis: inline its functions and infer shapes. Raises ConversionError, OSError."""
    with naming(source):
        model = load(source)
        inline_functions(model)
    standard_domain(model)
    infer_shapes(model)
    token_positions(Rewriter(model, Ranges(model)))
    return AnalysedGraph(OnnxGraph(model), ONNX_OPERATORS)

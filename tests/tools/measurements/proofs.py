"""Measure what `prove` proves of real models: a table for each of DIRECTORIES, as in docs/evidence/proved_models.md.

They hold IRs named NAME.onnx-route.xml or NAME.torch-route.xml, and inputs in NAME.npz. Sites with constant indices are left
out, as they say little about an analysis. For each site that is not proved, a request is searched that puts an index out of
bounds.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from helpers.counterexamples import Breaker, shown_to_fail
from ov_gather.graph.protocol import Node
from ov_gather.ir.reader import read_ir
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.graph import AnalysedGraph, has_dynamic_shape, in_order
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.proofs import prove_sites
from ov_gather.ranges.prove import graph_of
from ov_gather.ranges.rules.call import CPU_PLUGIN
from ov_gather.ranges.sites import Site

OF_DIMENSIONS, OF_INPUTS = "conditional on dimensions alone", "conditional on inputs"
FAILS = "of these shown to fail"
KINDS = ("proved", OF_DIMENSIONS, OF_INPUTS, "unknown", "refuted", FAILS)
COLUMNS = ("model", *KINDS, "seconds")


def measure(*directories: Path) -> Iterator[tuple[object, ...] | str]:
    for directory in directories:
        yield f"{directory.name}:"
        yield from proved(directory)


def proved(directory: Path) -> Iterator[tuple[object, ...]]:
    """Yield a row for each model, both routes together and the seconds of the slower one, and rows for all."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: dict[str, float] = defaultdict(float)
    breaker = Breaker()
    for path in sorted(directory.glob("*-route.xml")):
        name = path.name.partition(".")[0]
        found, seconds_taken = counted(path, breaker)
        counts[name] += found
        seconds[name] = max(seconds[name], seconds_taken)
    breaker.stop()
    total = sum(counts.values(), Counter())
    for name, found in {**counts, f"all {len(counts)}": total}.items():
        if found:
            yield name, *(found[kind] for kind in KINDS), f"{seconds.get(name, max(seconds.values())):.2f}"
    sites = total.total() - total[FAILS]
    yield "", *(f"{100 * total[kind] / max(sites, 1):.1f}%" for kind in KINDS), ""


def counted(path: Path, breaker: Breaker) -> tuple[Counter[str], float]:
    """Count the computed sites by column; return also the CPU time in seconds to read the IR and prove them."""
    start = time.process_time()
    graph = graph_of(read_ir(path))
    computed = [site for site in graph.sites if not is_constant(graph, site)]
    proofs = prove_sites(graph, CPU_PLUGIN, Assumption(), computed)
    seconds = time.process_time() - start
    found = Counter(column_of(proof, graph) for proof in proofs)
    with np.load(path.parent / f"{path.name.partition('.')[0]}.npz") as samples:
        outside = {site.name: proof for site, proof in zip(computed, proofs, strict=True) if site.within is None}
        found[FAILS] = len(shown_to_fail(path, graph, outside, dict(samples), breaker))
    return found, seconds


def column_of(proof: Proof, graph: AnalysedGraph) -> str:
    """Return the column of a proof; conditions on inputs' elements and on dynamic dimensions alone are separate."""
    if proof.status != "conditional":
        return proof.status
    return OF_DIMENSIONS if graph.inputs.keys().isdisjoint(proof.requires) else OF_INPUTS


def is_constant(graph: AnalysedGraph, site: Site) -> bool:
    """Return True if indices depend on constants and static sizes alone, which OpenVINO folds."""
    steps = [step for step in in_order(graph, [site.indices]) if not (step.reads_shapes_only and _is_told(graph, step))]
    leaves = {key for step in steps for key in step.inputs if key is not None and graph.producer(key) is None}
    own = {site.indices} if graph.producer(site.indices) is None else set()
    return all(not graph.declared(key).elements.is_any for key in leaves | own)


def _is_told(graph: AnalysedGraph, step: Node) -> bool:
    return all(key is not None and not has_dynamic_shape(graph.declared(key)) for key in step.inputs)

"""`ov_gather.harden`: what is not proved to be in bounds is made safe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from openvino import Model, Node, Output

from ov_gather.acceleration.checking_operations import checking_operation, checking_positions
from ov_gather.acceleration.compressed import is_compressed
from ov_gather.acceleration.graph import operation, take_place
from ov_gather.acceleration.guards import bounds_of, checked, clamped, is_ours, raises_by_itself, wide
from ov_gather.acceleration.hardened import HardenedSite, HardeningSummary
from ov_gather.acceleration.index_roots import INDICES, Root, Unproved, roots
from ov_gather.acceleration.zeros import add_slice, clear_results, to_added_slice, what_is_zero, why_not_zeros
from ov_gather.extension import checked_path
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.openvino_graph import OpenvinoGraph
from ov_gather.ranges.proofs import prove_sites
from ov_gather.ranges.prove import Limits, assumption
from ov_gather.ranges.rules.call import CPU_PLUGIN
from ov_gather.ranges.sites import Obstacle, Site

Policy = Literal["raise", "clamp", "zero"]
POLICIES: tuple[str, ...] = get_args(Policy)


def harden(
    model: Model, *, policy: Policy = "raise", portable: bool = False, assume: Mapping[str, Limits] | None = None
) -> HardeningSummary:
    """Make a model safe, in place: whatever integers its inputs hold, no gather or scatter reads or writes out of bounds.

    What is proved to be in bounds stays as it is. For inputs whose indices are in bounds the model computes the same as before,
    in f32 bit by bit.

    Args:
        model: as read or converted, not compiled.
        policy: what happens to an index out of bounds, in the model and its bodies. "raise": the inference fails. "clamp": the
            nearest index in bounds takes its place. "zero": what a gather reads by it is 0, and what a scatter would write by
            it is dropped. Indices of an empty axis always raise.
        portable: "raise" does without our operations, which a core has to be `register`ed for. "clamp" and "zero" never need
            them.
        assume: what is taken for granted of inputs and of open dimensions, as `prove` takes it. What is proved by that stays as
            it is.

    Returns:
        What was proved of each gather and scatter, and what was done to it; prints as a table.

    Raises:
        TypeError: this is no `openvino.Model`.
        ValueError: there is no such policy; `assume` names what the model does not have, or contradicts itself or the model.
        FileNotFoundError, ImportError: there is no extension for this OpenVINO, as `register` says.
    """
    if not isinstance(model, Model):
        hint = ": harden it before it is compiled" if type(model).__name__ == "CompiledModel" else ""
        raise TypeError(f"model must be an openvino.Model, not {type(model).__name__}{hint}")
    if policy not in POLICIES:
        raise ValueError(f"there is no policy {policy!r}; there are {', '.join(POLICIES)}")
    graph = OpenvinoGraph(model)
    given = assumption(graph, assume or {})
    if policy == "raise" and not portable:
        checked_path()  # before anything is changed
    return _Hardening(model, graph, given, policy, portable).run()


class _Hardening:
    def __init__(self, model: Model, graph: OpenvinoGraph, given: Assumption, policy: Policy, portable: bool) -> None:
        self._model, self._given, self._policy, self._portable = model, given, policy, portable
        proofs = prove_sites(graph, CPU_PLUGIN, given, graph.sites)
        self._told = {
            node.get_instance_id(): HardenedSite(proof.layer, operation(node), proof.status, proof.reason)
            for (node, _), proof in zip(graph.nodes_with_sites, proofs, strict=True)
        }
        self._guards = 0

    def run(self) -> HardeningSummary:
        if self._policy == "clamp":
            for root in roots(self._unproved()):
                if root.is_input:
                    self._guard(root)
        left = [site for site in self._unproved() if not self._needs_no_guard(site)]
        if self._policy == "zero":
            left = [site for site in left if not self._clear(site)]
            for root in roots([site for site in left if not why_not_zeros(site.node)]):
                self._guard(root)
                for site in root.sites:
                    add_slice(site.node)
            left = [site for site in left if why_not_zeros(site.node)]
        for root in roots(left):
            is_alone = len(root.sites) == 1 and self._policy == "raise" and not self._portable
            if not (is_alone and self._replace(root.sites[0])):
                self._guard(root)
        self._model.validate_nodes_and_infer_types()
        return HardeningSummary(tuple(self._told.values()), self._guards)

    def _tell(self, site: Unproved) -> HardenedSite:
        return self._told[site.node.get_instance_id()]

    def _unproved(self) -> list[Unproved]:
        """List what is neither proved, by the model as it is now, nor guarded."""
        graph = OpenvinoGraph(self._model)
        left = [(node, site) for node, site in graph.nodes_with_sites if self._is_open(node)]
        inputs = _sizes_of_inputs(graph, self._model)
        analysis = analyse(graph, steps_to(graph, [site for _, site in left]), CPU_PLUGIN, self._given)
        found = []
        for node, site in left:
            if analysis.outcome(site) is Outcome.IN_BOUNDS:
                self._told[node.get_instance_id()].kept = "in bounds since an input is clamped"
            else:
                found.append(_unproved(analysis, node, site, inputs))
        return found

    def _is_open(self, node: Node) -> bool:
        told = self._told.get(node.get_instance_id())
        return told is not None and told.status != "proved" and not told.done

    def _needs_no_guard(self, site: Unproved) -> bool:
        if is_ours(site.node):
            self._tell(site).kept = "our operation checks every index"
            return True
        if self._policy == "raise" and not site.may_be_empty and raises_by_itself(site.node):
            self._tell(site).kept = "this operation of OpenVINO raises"
            return True
        return False

    def _replace(self, site: Unproved) -> bool:
        other = checking_operation(site.node, counts_from_end=site.counts_from_end)
        if other is None:
            return False
        take_place(site.node, other)
        self._tell(site).done = f"raises: {operation(other)}"
        self._guards += 1
        return True

    def _clear(self, site: Unproved) -> bool:
        """Clear what a gather of compressed weights reads out of bounds: a larger table would be decompressed as a whole."""
        if why_not_zeros(site.node) or not is_compressed(site.node.input_value(0)):
            return False
        indices = wide(site.node.input_value(INDICES))
        clear_results(site.node, indices, bounds_of(site, indices))
        self._tell(site).done = what_is_zero(site.node)
        self._guards += 1
        return True

    def _guard(self, root: Root) -> None:
        """Clamp or check the indices of one or more sites."""
        indices = wide(root.indices)
        safe, what = self._safe(root, indices)
        source = root.indices.get_node()
        safe.get_node().set_friendly_name(f"{source.get_friendly_name()}/in_bounds")
        for reader in root.readers:
            reader.replace_source_output(safe)
        self._guards += 1
        where = f" at the input {source.get_friendly_name()}" if root.is_input else ""
        shared = f", one for {len(root.sites)} sites" if len(root.sites) > 1 else ""
        for site in root.sites:
            self._tell(site).done = f"{what or what_is_zero(site.node)}{where}{shared}"

    def _safe(self, root: Root, indices: Output) -> tuple[Output, str]:
        """Make indices that are in bounds, or raise, and tell what was made, but for zeros."""
        site = root.sites[0]
        bounds = bounds_of(site, indices)
        if self._policy == "clamp":
            return clamped(indices, bounds), "indices are clamped"
        reason = why_not_zeros(site.node) if self._policy == "zero" else ""
        if self._policy == "zero" and not reason:
            return to_added_slice(site.node, indices, bounds), ""
        if self._policy == "raise" and not self._portable and site.limit is not None and site.counts_from_end:
            return checking_positions(indices, bounds), "raises: ov_gather.Gather of positions"
        return checked(indices, bounds), f"raises: a check, as {reason}" if reason else "raises: a check"


def _unproved(analysis: Analysis, node: Node, site: Site, inputs: Mapping[str, tuple[Node, int]]) -> Unproved:
    wanted = analysis.demands(site)
    if isinstance(wanted, Obstacle):
        return Unproved(node, site.counts_from_end)
    may_be_empty = any(analysis.algebra.sizes.least(demand.size) < 1 for demand in wanted)
    if site.has_coordinates:
        return Unproved(node, site.counts_from_end, may_be_empty=may_be_empty)
    size, size_of = wanted[0].size, None
    if size.value is None and site.within is None:
        size_of = next((inputs[name] for name in size.names if name in inputs and size == Polynomial.name(name)), None)
    is_computed = size.value is None and size_of is None
    return Unproved(node, site.counts_from_end, (str(size), site.counts_from_end), size_of, is_computed, may_be_empty)


def _sizes_of_inputs(graph: OpenvinoGraph, model: Model) -> dict[str, tuple[Node, int]]:
    """Tell of each open dimension by which the analysis names it which axis of which input it is."""
    nodes = {node.get_name(): node for node in model.get_parameters()}
    found = {}
    for key in graph.inputs.values():
        node = nodes[key[0]]  # type: ignore[index]
        for axis, dim in enumerate(graph.declared(key).shape or ()):
            found.update(dict.fromkeys(dim.names, (node, axis)))
    return found

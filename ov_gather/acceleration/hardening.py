"""The steps of `ov_gather.harden`: which sites need a guard, and which guard serves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ov_gather.acceleration.axis_sizes import AxisSizes
from ov_gather.acceleration.compressed import is_compressed
from ov_gather.acceleration.declared_sites import guard, is_declared
from ov_gather.acceleration.graph import INDICES, is_ours, operation, replace_node, wide
from ov_gather.acceleration.guards import (
    as_gather_elements,
    checked,
    checking_operation,
    clamped,
    empty_gathers,
    fill,
    in_long_rows,
    in_shape_of,
    raises_by_itself,
    reads_state,
    removed_axis,
)
from ov_gather.acceleration.hardened_sites import HardenedSite, HardeningSummary
from ov_gather.acceleration.raising import has_open_shapes
from ov_gather.acceleration.shared_guards import (
    Root,
    add_zero,
    distribute,
    joined_indices,
    roots,
    share_shapes,
    sharing_constants,
)
from ov_gather.acceleration.unproved import Unproved, grouped_by_sizes, unproved_sites
from ov_gather.acceleration.zeros import add_slice, clear_results, reads_less, to_added_slice, what_is_zero, why_not_zeros
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.proofs import prove_sites
from ov_gather.ranges.prove import graph_of
from ov_gather.ranges.requests import covered
from ov_gather.ranges.rules.call import CPU_PLUGIN

Policy = Literal["raise", "clamp", "zero"]
_RAISES = "this operation of OpenVINO raises"


class Hardening:
    """The hardening of one model: proofs first, then guards, until no site is open."""

    def __init__(
        self, model: Model, graph: AnalysedGraph, given: Assumption, policy: Policy, portable: bool, guarded: bool
    ) -> None:
        self._model, self._graph, self._given, self._policy, self._portable = model, graph, given, policy, portable
        proofs = prove_sites(graph, CPU_PLUGIN, given, graph.sites)
        self._told = {
            (node.handle.get_instance_id(), site.port): HardenedSite(
                proof.layer, operation(node.handle), proof.status, proof.reason
            )
            for (node, site), proof in zip(graph.nodes_with_sites, proofs, strict=True)
        }
        if guarded:
            for told, is_covered in zip(self._told.values(), covered(graph, proofs), strict=True):
                told.kept = "in bounds in each request that the guard lets pass" if is_covered else ""
        self._sizes, self._guards, self._sizes_vary = AxisSizes(), 0, has_open_shapes(model)
        self._copies: list[tuple[Output, Output]] = []

    def run(self) -> HardeningSummary:
        """Guard what needs it, in place."""
        for node, place in ((node.handle, site) for node, site in self._graph.nodes_with_sites):
            told = self._told[node.get_instance_id(), place.port]
            if not _is_open(told):
                continue
            if not place.can_be_checked:
                told.kept = "not checked"
            elif is_declared(node):
                told.done = guard(node, place, self._sizes, self._policy, portable=self._portable, is_open=self._sizes_vary)
                self._guards += 1
        if self._policy == "clamp":
            for root in roots(self._unproved(), is_exact=False, by_columns=True):
                if root.is_input:
                    self._guard(root)
        found = self._unproved(with_needs=True)
        left = [site for site in found if not self._needs_no_guard(site)]
        raising = [site for site in found if self._tell(site).kept == _RAISES]
        before = self._guards
        for group in grouped_by_sizes(left):
            self._check_sizes(group)
        if self._guards > before:
            left = self._unproved()
        if self._policy == "clamp":
            for group in sharing_constants(left):
                self._clamp_constants(group)
            left = [site for site in left if self._is_open(site.node)]
        if self._policy == "zero":
            left = [site for site in left if not self._clear(site)]
            for root in roots([site for site in left if not why_not_zeros(site.node)], is_exact=False, by_columns=True):
                self._guard(root)
                for site in root.sites:
                    add_slice(site.node)
            left = [site for site in left if why_not_zeros(site.node)]
        if self._policy == "raise":
            left = [site for site in left if not self._keep(site)]
        uses_ours = self._policy == "raise" and not self._portable
        for root in roots([*left, *raising], is_exact=self._policy != "clamp", by_columns=not uses_ours):
            sites = self._guarded(root)
            if sites and not (uses_ours and len(sites) == 1 and not reads_state(sites[0].node) and self._replace(sites[0])):
                self._guard(root)
        share_shapes(self._copies)  # when all guards are there: none may need a shape behind itself
        self._model.validate_nodes_and_infer_types()
        for gather in empty_gathers(self._model):  # proved ones, too: they crash OpenVINO's compiler
            fill(gather)
            told = self._told[gather.get_instance_id(), INDICES]
            told.done = "; ".join(filter(None, (told.done, "an empty axis is filled")))
        self._model.validate_nodes_and_infer_types()
        return HardeningSummary(tuple(self._told.values()), self._guards)

    def _done(self, sites: Sequence[Unproved], *what: str) -> None:
        """Count a guard and record what it does: one text for each site, or for all."""
        self._guards += 1
        shared = f", one for {len(sites)} sites" if len(sites) > 1 else ""
        for site, text in zip(sites, what if len(what) > 1 else what * len(sites), strict=True):
            self._tell(site).done = f"{text}{shared}"

    def _tell(self, site: Unproved) -> HardenedSite:
        return self._told[site.node.get_instance_id(), INDICES]

    def _unproved(self, *, with_needs: bool = False) -> list[Unproved]:
        """Return the sites that are neither guarded nor proved in the current state of the model."""
        graph = graph_of(self._model) if self._guards else self._graph
        safe, left = unproved_sites(graph, self._model, self._given, self._is_open, with_needs=with_needs)
        for node in safe:
            self._told[node.get_instance_id(), INDICES].kept = "in bounds since an input is clamped"
        return left

    def _is_open(self, node: Node) -> bool:
        told = self._told.get((node.get_instance_id(), INDICES))
        return told is not None and _is_open(told)

    def _needs_no_guard(self, site: Unproved) -> bool:
        if is_ours(site.node):
            self._tell(site).kept = "our operation checks every index"
        elif self._policy == "raise" and not self._sizes_vary and not site.may_be_empty and raises_by_itself(site.node):
            self._tell(site).kept = _RAISES
        elif not site.may_be_empty and site.needs is not None and set(site.needs) == {1}:
            self._tell(site).kept = "in bounds, as there are indices only if the axis has elements"
        return bool(self._tell(site).kept)

    def _check_sizes(self, sites: Sequence[Unproved]) -> None:
        """Add one shared size check to sites that are in bounds if their axes are large enough."""
        needs = {site: self._needs(site) for site in sites}
        if self._policy == "clamp" and any(site.has_constants and needs[site] is None for site in sites):
            needs |= dict.fromkeys([site for site in sites if site.has_constants])  # one clamp will serve them all
        served = [site for site in sites if needs[site] is not None]
        if not served or (len(served) == 1 and self._policy == "raise" and not self._portable):
            return
        largest = tuple(map(max, zip(*filter(None, needs.values()), strict=True)))
        zero = self._sizes.zero(served[0], wide(served[0].indices), largest)
        add_zero(served, zero)
        self._done(served, "raises if the axis is empty" if set(largest) == {1} else "raises: a check of the size of the axis")

    def _needs(self, site: Unproved) -> tuple[int, ...] | None:
        """Return the least axis sizes for which a site is safe under the policy; None if a size check does not make it safe."""
        if self._policy == "raise" and not self._sizes_vary and raises_by_itself(site.node) and not site.is_in_body:
            return tuple(1 for _ in site.sizes) or None
        if site.needs is None or self._policy == "raise" or set(site.needs) == {1}:
            return site.needs
        return None

    def _clamp_constants(self, sites: Sequence[Unproved]) -> None:
        table = joined_indices(sites)
        bounds = self._sizes.bounds(sites, table)
        distribute(clamped(table, bounds), sites)
        self._done(sites, "indices are clamped")

    def _replace(self, site: Unproved) -> bool:
        other = checking_operation(site.node, counts_from_end=site.counts_from_end)
        if other is None or (self._sizes_vary and other.get_output_partial_shape(0).is_static):
            return False
        replace_node(site.node, other)
        self._done([site], f"raises: {operation(other)}")
        return True

    def _keep(self, site: Unproved) -> bool:
        """Replace a gather that OpenVINO would remove at compile time, checks included, by one that stays."""
        axis = removed_axis(site.node)
        if axis is None:
            return False
        if self._portable or not self._replace(site):
            replace_node(site.node, other := as_gather_elements(site.node, axis, counts_from_end=site.counts_from_end))
            self._done([site], f"raises: {operation(other)}")
        return True

    def _clear(self, site: Unproved) -> bool:
        """Zero what a gather reads out of bounds, if padding data would decompress or copy more than is read."""
        if why_not_zeros(site.node) or not (is_compressed(site.node.input_value(0)) or reads_less(site.node)):
            return False
        indices = wide(site.indices)
        clear_results(site.node, indices, self._sizes.bounds([site], indices))
        self._done([site], what_is_zero(site.node))
        return True

    def _guard(self, root: Root) -> None:
        indices = wide(root.indices)
        safe, what = self._safe(root, indices)
        source = root.indices.get_node()
        safe.get_node().set_friendly_name(f"{source.get_friendly_name()}/in_bounds")
        self._copies += root.feed(safe)
        where = f" at the input {source.get_friendly_name()}" if root.is_input else ""
        sites = self._guarded(root)
        self._done(sites, *(f"{what or what_is_zero(site.node)}{where}" for site in sites))

    def _guarded(self, root: Root) -> list[Unproved]:
        """Return the sites of a root that need a guard. Others raise by themselves, and only share what moves the indices."""
        return [site for site in root.sites if not self._tell(site).kept]

    def _safe(self, root: Root, indices: Output) -> tuple[Output, str]:
        """Return guarded indices and a description of the guard, which is empty for zeros."""
        site = root.sites[0]
        columns = root.columns
        bounds = self._sizes.bounds(root.sites, indices) if columns is None else self._sizes.of_columns(columns, indices)
        if self._policy == "clamp":
            return clamped(indices, bounds), "indices are clamped"
        reason = why_not_zeros(site.node) if self._policy == "zero" else ""
        if self._policy == "zero" and not reason:
            rows, bounds = in_long_rows(indices, bounds)
            return in_shape_of(indices, to_added_slice(rows, bounds, counts_from_end=site.counts_from_end)), ""
        portable = self._portable or self._policy == "zero"
        name = f"{root.indices.get_node().get_friendly_name()}/bounds_check"
        is_open = self._sizes_vary and all(self._tell(one).status != "refuted" for one in root.sites)
        safe = checked(indices, bounds, counts_from_end=site.counts_from_end, portable=portable, is_open=is_open, name=name)
        is_ours_now = is_ours(safe.get_node())
        what = f"raises: {operation(safe.get_node())} of positions" if is_ours_now else "raises: a check"
        return safe, f"{what}, as {reason}" if reason else what


def _is_open(told: HardenedSite) -> bool:
    return told.status != "proved" and not told.done and not told.kept

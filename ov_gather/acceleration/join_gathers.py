"""GatherElements of slices of the same data, joined by a Concat, become one Gather, which is named like the first.

Graph networks concatenate the features of both ends of each edge so.

before: Concat(GatherElements(x, Broadcast(i)), GatherElements(x, Broadcast(j)))
after:  Reshape(Gather(x, Concat(Unsqueeze(i), Unsqueeze(j))))
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ov_gather.acceleration.changes import Tracker, why_not_ours
from ov_gather.acceleration.divergent import added_divergence
from ov_gather.acceleration.graph import gathers_elements, identity, nodes_of, operation, replace_node
from ov_gather.acceleration.operators import our_gather
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.ranges import BoundsQueries
from ov_gather.acceleration.rounding import would_fuse_across
from ov_gather.acceleration.slices import Slices, slices_of, why_not_stock
from ov_gather.extension.python_api import Model, Node
from ov_gather.extension.python_api import opset13 as ops


def join_gathers(model: Model, tracker: Tracker, *, portable: bool = False, assume_in_bounds: bool = False) -> None:
    """Rewrite to Gather-8 unless `why_not_stock` objects; else to our Gather, unless `portable`."""
    quantised, bounds = is_quantised(model), BoundsQueries(model)
    for concat in nodes_of(model, "Concat-1"):
        gathers = [value.get_node() for value in concat.input_values()]
        slices = None if any(map(tracker.leaves, gathers)) else _side_by_side(concat, gathers, bounds)
        if slices is None:
            continue
        inputs = [slices.data, slices.indices, ops.constant(slices.axis).output(0)]
        why_not = why_not_stock(slices, is_quantised=quantised, assume_in_bounds=assume_in_bounds)
        stock = ops.gather(*inputs, slices.batch_dims)
        if not why_not and not would_fuse_across(slices.data, concat) and not added_divergence(stock, gathers[0]):
            joined = stock
        elif portable or why_not_ours(gathers[0], concat):
            continue
        else:
            joined = our_gather(inputs, batch_dims=slices.batch_dims)
        joined.set_friendly_name(gathers[0].get_friendly_name())
        replace_node(concat, ops.reshape(joined, ops.constant(np.array(concat.get_output_shape(0))), special_zero=False))
        for gather in gathers:
            tracker.done(gather, f"one {operation(joined)} for {len(gathers)}", joined)


def _side_by_side(concat: Node, gathers: list[Node], bounds: BoundsQueries) -> Slices | None:
    """Return all slices as one if only the Concat reads them and it joins them along the dimension after the axis."""
    if any(not gathers_elements(gather) or len(gather.output(0).get_target_inputs()) > 1 for gather in gathers):
        return None
    found = [slices for gather in gathers if isinstance(slices := slices_of(gather, bounds), Slices)]
    first = found[0] if len(found) == len(gathers) > 1 else None
    if first is None or concat.get_output_partial_shape(0).is_dynamic:
        return None
    rank = len(concat.get_output_shape(0))
    places = {(identity(slices.data), slices.axis, slices.batch_dims) for slices in found}
    if len(places) > 1 or concat.get_attributes()["axis"] % rank != first.axis + 1:
        return None
    types = {slices.indices.get_element_type().get_type_name() for slices in found}
    same_type = [slices.indices if len(types) == 1 else ops.convert(slices.indices, "i64") for slices in found]
    columns = [ops.unsqueeze(indices, ops.constant(-1)) for indices in same_type]
    reasons = [slices.out_of_bounds for slices in found if slices.out_of_bounds]
    return replace(first, indices=ops.concat(columns, -1).output(0), out_of_bounds="".join(reasons[:1]))

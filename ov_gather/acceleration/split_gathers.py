"""Gathers of single positions of one axis become a Split, as recurrent models unrolled over time contain them.

before: Gather(x, 0), Gather(x, 1), ..., Gather(x, 9)
after:  Split(x, 10), each part squeezed
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import dims, identity, is_constant_foldable, replace_node, walk
from ov_gather.acceleration.parts import picked
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.rounding import is_computed_before
from ov_gather.extension.python_api import Model, Node
from ov_gather.extension.python_api import opset13 as ops

_LEAST = 4
"""Minimum number of positions: for fewer, Gathers are no slower than a Split."""


def split_gathers(model: Model, tracker: Tracker) -> None:
    """Rewrite if the Gathers of one graph take every position, and OpenVINO moves no operation before one of them."""
    if is_quantised(model):
        return
    groups: dict[Hashable, dict[Node, tuple[int, int, int]]] = {}
    for place, node in walk(model):
        if not tracker.leaves(node) and (taken := _position(node)) is not None:
            groups.setdefault((place, identity(node.input_value(0)), *taken[1:]), {})[node] = taken
    for group in groups.values():
        first = next(iter(group))
        _, axis, size = group[first]
        if size < _LEAST or {position for position, _, _ in group.values()} != set(range(size)):
            continue
        if any(is_computed_before(gather) for gather in group):
            for gather in group:
                tracker.kept(gather, "OpenVINO computes what is behind one of these Gathers before it")
            continue
        parts = ops.split(first.input_value(0), ops.constant(axis), size)
        parts.set_friendly_name(f"{first.get_friendly_name()}/split")
        for gather, (position, _, _) in group.items():
            part = parts.output(position)
            taken = ops.constant(np.array([axis]))
            # A Concat of one part changes nothing; it bears the name of the Gather, and OpenVINO removes it.
            indices = len(dims(gather.input_value(1)) or ())
            alone = ops.squeeze(part, taken) if indices == 0 else ops.concat([part], axis)
            replace_node(gather, alone)
            tracker.done(gather, f"one Split for {len(group)}", alone, rounds=False)


def _position(gather: Node) -> tuple[int, int, int] | None:
    """Return position, axis and axis size of a stock Gather of one constant position; None for others."""
    found = picked(gather)
    if found is None or len(found.positions) != 1 or is_constant_foldable(gather.input_values()[:1]):
        return None
    return (found.positions[0], found.axis, found.size) if len(gather.get_input_partial_shape(1)) <= 1 else None

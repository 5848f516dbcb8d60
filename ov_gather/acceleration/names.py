"""Unique names of layers: nodes that passes add are named like no other node of their graph.

Before: a model read from a file has a Constant_7, and so is a Constant called that a pass has made in this process.
After: the new one is called Constant_7_1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from ov_gather.acceleration.graph import walk
from ov_gather.extension.python_api import Model, Node


@contextmanager
def unique_names(model: Model) -> Iterator[None]:
    """Rename the nodes that are added meanwhile to a model, and to its bodies, if others there have their names.

    Nodes that were there keep their names. Of the others, those that were given a name come before those named by OpenVINO.
    """
    known = {node.get_instance_id() for _, node in walk(model)}
    yield
    graphs: dict[str, list[Node]] = {}
    for place, node in walk(model):
        graphs.setdefault(place, []).append(node)
    for nodes in graphs.values():
        added = [node for node in nodes if node.get_instance_id() not in known]
        taken = {node.get_friendly_name() for node in nodes if node.get_instance_id() in known}
        for node in sorted(added, key=lambda node: node.get_friendly_name() == node.get_name()):
            name = node.get_friendly_name()
            if name in taken:
                name = next(other for number in count(1) if (other := f"{name}_{number}") not in taken)
                node.set_friendly_name(name)
            taken.add(name)

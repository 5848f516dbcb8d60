"""Ties in TopK: ONNX takes the lowest index, OpenVINO only with `stable=True`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import openvino


def keep_order_of_ties(model: openvino.Model) -> None:
    """Make every TopK stable, bodies included.

    Before: TopK(sort="none" or "value", stable=False). After: TopK(sort="value", stable=True). An unsorted TopK of ONNX may
    return its numbers in any order, so sorting them is valid.
    """
    from ov_gather.acceleration.graph import walk

    for _, node in walk(model):
        given = node.get_attributes() if node.get_type_name() == "TopK" else {}
        if given.get("stable") is False and given["sort"] != "index":
            node.set_attribute("sort", "value")
            node.set_attribute("stable", True)

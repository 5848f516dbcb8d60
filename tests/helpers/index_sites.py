"""The gathers and scatters of a random model, and by NumPy which of their indices are out of bounds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from helpers.random_openvino import Sample

Tensor = tuple[str, int]
"""The name of a node and the position of an output."""
Arrays = Mapping[Tensor, NDArray[Any]]

FROM_START = {("Gather", "opset1"), ("Gather", "opset7"), ("ScatterUpdate", "opset3")}
"""Operations that do not take negative indices. OpenVINO's CPU plugin does in all others."""


@dataclass(frozen=True)
class Site:
    """One gather or scatter.

    Attributes:
        axis: what the indices count along; None for coordinates, which count along the axes after `batch_dims`.
        from_end: whether negative indices count from the end.
        when: a tensor that is true where the site is executed.
    """

    name: str
    index: Tensor
    data: Tensor
    axis: int | None
    from_end: bool
    batch_dims: int = 0
    when: Tensor | None = None

    def limits(self, shape: Sequence[int], index_shape: Sequence[int]) -> NDArray[np.int64]:
        """The size of the axis, or of the axis of each coordinate."""
        if self.axis is not None:
            return np.array(shape[self.axis])
        return np.array(shape[self.batch_dims : self.batch_dims + index_shape[-1]])

    def outside(self, arrays: Arrays) -> NDArray[np.bool_] | None:
        """Tell for each index whether it is out of bounds; None where the operands were not observed, or it did not run."""
        index, data = arrays.get(self.index), arrays.get(self.data)
        if index is None or data is None or (self.when is not None and not np.all(arrays.get(self.when, False))):
            return None
        if index.ndim == 0 if self.axis is None else not -data.ndim <= self.axis < data.ndim:
            return None  # because it cannot be executed
        limits = self.limits(data.shape, index.shape)
        wide = index.astype(np.int64)
        return (wide >= limits) | (wide < (-limits if self.from_end else 0))


def tensor(output: ov.Output) -> Tensor:
    return output.get_node().get_friendly_name(), output.get_index()


def sites_of(sample: Sample) -> Iterator[Site]:
    """The sites of a model, and those of its bodies that can be observed outside."""
    for node in sample.model.get_ordered_ops():
        site = site_of(node)
        if site is not None:
            yield site
    for inner in sample.inner:
        when = None if inner.when is None else tensor(inner.when)
        if any(node.get_friendly_name() == tensor(inner.index)[0] for node in sample.model.get_ops()):
            yield Site(inner.name, tensor(inner.index), tensor(inner.data), 0, True, when=when)


def site_of(node: ov.Node) -> Site | None:
    """What a node gathers or scatters; None where it does neither."""
    kind, version = node.get_type_name(), node.get_type_info().version_id
    if kind not in ("Gather", "GatherElements", "GatherND", "ScatterUpdate", "ScatterElementsUpdate", "ScatterNDUpdate"):
        return None
    attributes, operands = node.get_attributes(), [tensor(value) for value in node.input_values()]
    axis, batch_dims = None, int(attributes.get("batch_dims", 0))
    if "ND" not in kind:
        position = {"Gather": 2, "ScatterUpdate": 3, "ScatterElementsUpdate": 3}.get(kind)
        axis = attributes["axis"] if position is None else int(np.ravel(node.input_value(position).get_node().data)[0])
    return Site(node.get_friendly_name(), operands[1], operands[0], axis, (kind, version) not in FROM_START, batch_dims)

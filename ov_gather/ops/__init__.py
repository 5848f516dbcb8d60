"""Registry of the operations of the gather family, found by a layer's type and version. One file describes one operation."""

from __future__ import annotations

from ov_gather.ir.model import Layer
from ov_gather.ops.gather import GATHER_1, GATHER_7, GATHER_8, GATHER_CUSTOM
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.ops.gather_nd import GATHER_ND_5, GATHER_ND_8, GATHER_ND_CUSTOM
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_CUSTOM, SCATTER_ELEMENTS_UPDATE_3, SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_nd_update import SCATTER_ND_CUSTOM, SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15
from ov_gather.ops.scatter_update import SCATTER_UPDATE_3
from ov_gather.ops.spec import Operation

OPERATIONS: tuple[Operation, ...] = (
    GATHER_ELEMENTS_6,
    GATHER_ELEMENTS_CUSTOM,
    GATHER_1,
    GATHER_7,
    GATHER_8,
    GATHER_CUSTOM,
    GATHER_ND_5,
    GATHER_ND_8,
    GATHER_ND_CUSTOM,
    SCATTER_ELEMENTS_UPDATE_3,
    SCATTER_ELEMENTS_UPDATE_12,
    SCATTER_ELEMENTS_CUSTOM,
    SCATTER_UPDATE_3,
    SCATTER_ND_UPDATE_3,
    SCATTER_ND_UPDATE_15,
    SCATTER_ND_CUSTOM,
)
FAMILY = frozenset(operation.type for operation in OPERATIONS)


def versions_of(layer_type: str) -> tuple[Operation, ...]:
    """Return every version of the operation with this <layer type>, oldest first."""
    return tuple(operation for operation in OPERATIONS if operation.type == layer_type)


def find_operation(layer: Layer) -> Operation | None:
    """Return the operation that a layer's type and version name. A layer without a version (a fragment) gets the oldest one."""
    candidates = versions_of(layer.type)
    if layer.version is None:
        return candidates[0] if candidates else None
    return next((operation for operation in candidates if layer.version in operation.opsets), None)

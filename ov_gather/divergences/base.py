"""This module tells what a departure of a runtime from ONNX is written in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ov_gather.divergences.conditions import Condition, Operands

    Prediction = Callable[[LayerView, Operands], Sequence[NDArray[Any]]]
    Permission = Callable[[LayerView, Operands, NDArray[Any]], NDArray[np.bool_]]


CPU = ("CPU",)
"""The device on which everything is executed that does not name another."""


class Observed(Enum):
    """What a runtime does where a divergence applies."""

    AGREES = "agrees"  # but the operation's page, or ONNX, says otherwise
    DIFFERS = "differs"
    REFUSES = "refuses"
    ANSWERS = "answers where our kernel refuses"
    CRASHES = "crashes"
    LACKS = "does not have it"  # so that it is not asked: not applicable
    AVOIDED = "cannot happen in a check of layers"  # or is kept from happening; known for those who run models


@dataclass(frozen=True, slots=True)
class Divergence:
    """One departure of runtimes from ONNX.

    Attributes:
        name: what reports call it.
        runtimes: whose it is.
        observed: what the runtime does; one of these.
        applies: whether the divergence concerns a layer with these operands. For LACKS there are none: they are not needed.
        why: the reason, for people.
        operations: versioned names of those that it concerns; none = all.
        devices: the devices of OpenVINO that do so.
        since, before: the first version of the runtime that does so, and the first that no longer does, where known.
        predicts: the results that the runtime may have instead: each element is that of one of them, bit by bit. Raises
            IndexError where there is none.
        permits: of a result, which of its elements the runtime may have, where there are too many to predict. Raises IndexError
            where there is no result.
        any_nan: whether a NaN in `predicts` stands for every NaN.
    """

    name: str
    runtimes: tuple[str, ...]
    observed: tuple[Observed, ...]
    applies: Condition
    why: str
    operations: tuple[str, ...] = ()
    devices: tuple[str, ...] = CPU
    since: str = ""
    before: str = ""
    predicts: Prediction | None = None
    permits: Permission | None = None
    any_nan: bool = False

    def concerns(self, runtime: str, version: str, operation: str, devices: Sequence[str] = CPU) -> bool:
        """Tell whether the divergence is one of this version of a runtime, of this operation, and of one of these devices."""
        return (
            runtime in self.runtimes
            and any(device in self.devices for device in devices)
            and (not self.operations or operation in self.operations)
            and (not self.since or _number(version) >= _number(self.since))
            and (not self.before or _number(version) < _number(self.before))
        )


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))

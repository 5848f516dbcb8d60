"""The description of a divergence: a deviation of a runtime from ONNX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import Operation
from ov_gather.plugin.base import releases_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ov_gather.divergences.conditions import Condition, Operands

    Prediction = Callable[[LayerView, Operands], Sequence[NDArray[Any]]]
    Permission = Callable[[LayerView, Operands, NDArray[Any]], NDArray[np.bool_]]


CPU = ("CPU",)
"""The default device of every execution."""


class Observed(Enum):
    """What a runtime does when a divergence applies."""

    AGREES = "agrees"  # although the operation's specification, or ONNX, says otherwise
    DIFFERS = "differs"
    REFUSES = "refuses"
    ANSWERS = "answers where our kernel refuses"
    CRASHES = "crashes"
    LACKS = "does not have it"  # so it is not run: not applicable
    AVOIDED = "cannot happen in a check of layers"  # or is prevented; listed for those who run models


@dataclass(frozen=True, slots=True)
class Divergence:
    """One deviation of runtimes from ONNX.

    Attributes:
        name: its name in reports.
        runtimes: the runtimes that deviate.
        observed: what the runtime may do; one of these.
        applies: condition on a layer and its operands. For LACKS the operands are empty, since they are not needed.
        why: the reason, for people.
        operations: the operations concerned; empty = all.
        devices: the OpenVINO devices concerned.
        since, before: the first version of the runtime that deviates, and the first that no longer does; "" if unknown.
        predicts: the possible results: each element equals, bit by bit, that of one of them. Raises IndexError if there is
            none.
        permits: mask of the elements of a given result that the runtime may produce, if there are too many results to predict.
            Raises IndexError if there is no result.
        upstream: the issues about it, e.g. "openvinotoolkit/openvino#35687".
        reports: names of the pages in docs/evidence/upstream/ that report it, each with a reproducer.
    """

    name: str
    runtimes: tuple[str, ...]
    observed: tuple[Observed, ...]
    applies: Condition
    why: str
    operations: tuple[Operation, ...] = ()
    devices: tuple[str, ...] = CPU
    since: str = ""
    before: str = ""
    predicts: Prediction | None = None
    permits: Permission | None = None
    upstream: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()

    @property
    def releases(self) -> str:
        """The releases of the runtime that deviate, e.g. "since 2025.2, before 2025.3"; empty if all do."""
        return releases_text(self.since, self.before)

    def concerns(self, runtime: str, version: str, operation: str, devices: Sequence[str] = CPU) -> bool:
        """Return True if the divergence concerns this version of a runtime, this operation, and one of these devices."""
        return (
            runtime in self.runtimes
            and any(device in self.devices for device in devices)
            and (not self.operations or operation in (one.name for one in self.operations))
            and (not self.since or _number(version) >= _number(self.since))
            and (not self.before or _number(version) < _number(self.before))
        )


def address(issue: str) -> str:
    """Return the address of an issue, e.g. of "openvinotoolkit/openvino#35687"."""
    repository, _, number = issue.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))

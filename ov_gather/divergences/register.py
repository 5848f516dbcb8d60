"""The register of all divergences. A difference between runtimes that no entry explains is a failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ov_gather.divergences.base import CPU, Divergence, Observed
from ov_gather.divergences.models import MODELS
from ov_gather.divergences.older_openvino import OLDER_OPENVINO
from ov_gather.divergences.onnxruntime import ONNXRUNTIME
from ov_gather.divergences.openvino import OPENVINO
from ov_gather.divergences.openvino_scatters import OPENVINO_SCATTERS
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from ov_gather.divergences.conditions import Operands

DIVERGENCES = (*OPENVINO, *OPENVINO_SCATTERS, *OLDER_OPENVINO, *ONNXRUNTIME, *MODELS)


def explaining(
    runtime: str, version: str, observed: Observed, view: LayerView, operands: Operands, devices: Sequence[str] = CPU
) -> Iterator[Divergence]:
    """Yield the divergences that explain what a runtime was observed to do, on these devices, with this layer and operands."""
    for known in DIVERGENCES if view.is_of_family else ():
        if (
            observed in known.observed
            and known.concerns(runtime, version, view.operation.name, devices)
            and known.applies(view, operands)
        ):
            yield known


def lacking(runtime: str, version: str, view: LayerView, devices: Sequence[str] = CPU) -> Divergence | None:
    """Return the divergence that prevents a runtime from executing a layer on these devices; None if there is none."""
    return next(explaining(runtime, version, Observed.LACKS, view, (), devices), None)


def is_predicted(names: Iterable[str]) -> bool:
    """Return True if one of these divergences determines the result exactly, so that the result is not stray memory."""
    return any(known.predicts or known.permits for known in DIVERGENCES if known.name in names)

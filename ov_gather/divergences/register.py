"""The register of all divergences, as data. A difference between runtimes that none of them explains is a failure."""

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
    """Yield the divergences that may explain what was observed of a runtime on some devices for a layer with these operands."""
    for known in DIVERGENCES:
        if (
            observed in known.observed
            and known.concerns(runtime, version, view.operation.name, devices)
            and known.applies(view, operands)
        ):
            yield known


def lacking(runtime: str, version: str, view: LayerView, devices: Sequence[str] = CPU) -> Divergence | None:
    """Tell why a runtime cannot be asked to execute a layer on some devices at all; None if it can."""
    return next(explaining(runtime, version, Observed.LACKS, view, (), devices), None)


def is_predicted(names: Iterable[str]) -> bool:
    """Tell whether one of these divergences says exactly what the result is, so that it does not come from foreign memory."""
    return any(known.predicts or known.permits for known in DIVERGENCES if known.name in names)

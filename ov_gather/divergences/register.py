"""The register of all divergences, as data. A difference between runtimes that none of them explains is a failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ov_gather.divergences.base import Divergence, Observed
from ov_gather.divergences.models import MODELS
from ov_gather.divergences.onnxruntime import ONNXRUNTIME
from ov_gather.divergences.openvino import OPENVINO
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from ov_gather.divergences.conditions import Operands

DIVERGENCES = (*OPENVINO, *ONNXRUNTIME, *MODELS)


def explaining(runtime: str, version: str, observed: Observed, view: LayerView, operands: Operands) -> Iterator[Divergence]:
    """Yield the divergences that may explain what was observed of a runtime, for a layer with these operands."""
    for known in DIVERGENCES:
        if (
            observed in known.observed
            and known.concerns(runtime, version, view.operation.name)
            and known.applies(view, operands)
        ):
            yield known


def lacking(runtime: str, version: str, view: LayerView) -> Divergence | None:
    """Tell why a runtime cannot be asked to execute a layer at all; None if it can."""
    return next(explaining(runtime, version, Observed.LACKS, view, ()), None)


def is_predicted(names: Iterable[str]) -> bool:
    """Tell whether one of these divergences says exactly what the result is, so that it does not come from foreign memory."""
    return any(known.predicts for known in DIVERGENCES if known.name in names)

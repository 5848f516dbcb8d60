"""What the contract of an operator says of a layer, as violations of the rule for its kind."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ops.contracts.call import ContractError
from ov_gather.ops.contracts.judging import Judged
from ov_gather.rules.base import Violation


def of_contract(judged: Judged, kind: type[ContractError]) -> Iterator[Violation]:
    """Yield the violation of a layer that breaks its contract in this way, if it does."""
    error, layer = judged.error, judged.layer
    if isinstance(error, kind):
        if error.port is None:
            yield Violation.at(layer, error.reason, error.hint, line=layer.data_line)
        else:
            yield Violation.at(layer, error.reason, error.hint, port=layer.inputs[error.port])

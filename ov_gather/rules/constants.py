"""5xx: constants and the .bin."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.errors import Fault
from ov_gather.ir.reader import Document
from ov_gather.rules.base import Violation, document_rule
from ov_gather.rules.document import faults


@document_rule("OVG501")
def missing_weights(document: Document) -> Iterator[Violation]:
    """The model has Consts, but there is no .bin with the same stem beside the .xml, or it cannot be read."""
    return faults(document, Fault.NO_WEIGHTS)


@document_rule("OVG502")
def outside_weights(document: Document) -> Iterator[Violation]:
    """The payload of a Const lies outside the .bin: the file is truncated, or belongs to another .xml."""
    return faults(document, Fault.RANGE)


@document_rule("OVG503")
def malformed_constant(document: Document) -> Iterator[Violation]:
    """The attributes of a Const are missing, malformed, or disagree: offset and size in bytes, static shape, element_type."""
    return faults(document, Fault.CONST)

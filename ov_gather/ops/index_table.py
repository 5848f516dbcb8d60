"""The operators that read or write at an index and are neither gather nor scatter: one row for each input with indices.

Gathers and scatters have their index rules in their own files, those of users in their declarations. What OpenVINO does with
an index out of bounds was measured with 2026.4.1. Operators without a row cannot go wrong: see docs/reference/indices.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ov_gather.ops.spec import CUSTOM_OPSET


@dataclass(frozen=True, slots=True)
class IndexRow:
    """The indices that one input of an operator holds.

    Attributes:
        port: position of the input.
        data: position of the input whose axis they address.
        axis: the number of this axis, or the name of the attribute that holds it.
        counts_from_end: whether negative indices count from the end; otherwise they are out of bounds.
        spare: the number of further values in bounds: 1 for a length, which may equal the size of the axis.
        size: the size that they address, if it is no dimension of data, or the name of the attribute that holds it.
        outside: the effect in OpenVINO of an index out of bounds, for people; "" if it raises.
        unknown: why nothing is proved or checked of the indices; "" if it is.
        lenient: why an index out of bounds may be right, so that none is refused; "" if it is not.
        if_given: name of the attribute without which `lenient` does not apply; "" if it always does.
    """

    port: int
    data: int = 0
    axis: int | str = 0
    counts_from_end: bool = False
    spare: int = 0
    size: int | str | None = None
    outside: str = ""
    unknown: str = ""
    lenient: str = ""
    if_given: str = ""


_ZEROS = "yields zeros"
_FOREIGN = "reads foreign memory"
_LAST = "takes the last of them"
_UNWRITTEN = "may leave a part of the output unwritten"
_LENGTH = "yields zeros in the place of the last state"
_PAST = "the number of new tokens, not the index alone, decides how far the cache is written"
_LABELS = IndexRow(1, 0, 1, counts_from_end=True, lenient="the label to ignore may have any value", if_given="ignore_index")
OPEN_SEQUENCE = "how many tensors its sequence has is not known"
"""Why nothing is proved of an index of a sequence."""
_BATCHES = "the batch indices are the first column of a table of floats"

ONNX_INDICES: Mapping[str, Sequence[IndexRow]] = {
    "Attention": [IndexRow(6, 1, -2, spare=1, outside="counts as the whole length, or as 0")],
    "ai.onnx.ml.ArrayFeatureExtractor": [IndexRow(1, 0, -1)],
    "com.microsoft.EmbedLayerNormalization": [
        IndexRow(0, 2, outside=_ZEROS),
        IndexRow(1, 4, outside=_ZEROS),
        IndexRow(8, 3, outside=_ZEROS),
    ],
    "com.microsoft.GatherBlockQuantized": [IndexRow(1, 0, "gather_axis", counts_from_end=True, outside=_FOREIGN)],
    "com.microsoft.GatherND": [IndexRow(1, outside=_FOREIGN, unknown="ONNX has this operator from opset 11 on")],
    "com.microsoft.GroupQueryAttention": [IndexRow(5, unknown=_PAST)],
    "com.microsoft.MultiHeadAttention": [IndexRow(8, unknown=_PAST)],
    "com.microsoft.RotaryEmbedding": [IndexRow(1, 2, outside=_ZEROS)],
    "GRU": [IndexRow(4, 0, "layout", spare=1, outside=_LENGTH)],
    "LSTM": [IndexRow(4, 0, "layout", spare=1, outside=_LENGTH)],
    "MaxRoiPool": [IndexRow(1, outside=_FOREIGN, unknown=_BATCHES)],
    "MaxUnpool": [IndexRow(1, unknown="they address an output whose size other inputs determine")],
    "NegativeLogLikelihoodLoss": [_LABELS],
    "RNN": [IndexRow(4, 0, "layout", spare=1, outside=_LENGTH)],
    "RoiAlign": [IndexRow(2, outside=_UNWRITTEN)],
    "RotaryEmbedding": [IndexRow(3, 1, outside=_ZEROS)],
    "SequenceAt": [IndexRow(1, counts_from_end=True, outside=_LAST)],
    "SequenceErase": [IndexRow(1, unknown=OPEN_SEQUENCE)],
    "SequenceInsert": [IndexRow(2, unknown=OPEN_SEQUENCE)],
    "SoftmaxCrossEntropyLoss": [_LABELS],
    "TensorScatter": [IndexRow(2, unknown=_PAST)],
}
"""By operator, with its domain if that is not the default one. Those that OpenVINO refuses to convert are named, too."""

_BAG = IndexRow(1)
_STARTS = IndexRow(2, 1, outside="reads foreign memory as indices")
_PARENTS = IndexRow(1, 0, 2)
_LENGTHS = IndexRow(2, outside="leaves the output unwritten", unknown="a length of 0 is out of bounds, too")

OPENVINO_INDICES: Mapping[str, Sequence[IndexRow]] = {
    "CTCGreedyDecoderSeqLen": [IndexRow(1, 0, 1, spare=1, outside="of less than 0 ends the process")],
    "CTCLoss": [IndexRow(2, 0, 2, outside=_FOREIGN, lenient="labels behind the length of their row may have any value")],
    "DeformablePSROIPooling": [IndexRow(1, outside=_FOREIGN, unknown=_BATCHES)],
    "EmbeddingBagOffsets": [_BAG, _STARTS],
    "EmbeddingBagOffsetsSum": [_BAG, _STARTS],
    "EmbeddingBagPacked": [_BAG],
    "EmbeddingBagPackedSum": [_BAG],
    "EmbeddingSegmentsSum": [_BAG],
    "GatherTree": [_PARENTS, _LENGTHS],
    "GRUSequence": [IndexRow(2, 0, 1, spare=1, outside=_LENGTH)],
    "LSTMSequence": [IndexRow(3, 0, 1, spare=1, outside=_LENGTH)],
    "MulticlassNms": [IndexRow(2, outside=_FOREIGN, unknown="the sum of these numbers of boxes has a bound, not each")],
    "PSROIPooling": [IndexRow(1, outside=_FOREIGN, unknown=_BATCHES)],
    "RNNSequence": [IndexRow(2, 0, 1, spare=1, outside=_LENGTH)],
    "ROIAlign": [IndexRow(2, outside=_UNWRITTEN)],
    "ROIAlignRotated": [IndexRow(2, outside=_FOREIGN)],
    "ROIPooling": [IndexRow(1, outside=_FOREIGN, unknown=_BATCHES)],
    "SegmentMax": [IndexRow(1, size=2**31 - 1, outside="ends the process")],
}
"""By type, for all versions."""

OUR_INDICES: Mapping[str, Sequence[IndexRow]] = {
    "GatherScatter": [
        IndexRow(1, counts_from_end=True, outside='yields zeros, or raises with bounds="error"'),
        IndexRow(2, counts_from_end=True, size="size"),
    ],
}
"""The same of opset `ov_gather`: an index rule is for one input alone."""


def openvino_rows(layer_type: str, opset: str | None) -> Sequence[IndexRow]:
    """Return the rows of an operation of OpenVINO, or of ours; none for one of users, even of the same type."""
    if opset == CUSTOM_OPSET:
        return OUR_INDICES.get(layer_type, ())
    return OPENVINO_INDICES.get(layer_type, ()) if opset is None or opset.startswith("opset") else ()

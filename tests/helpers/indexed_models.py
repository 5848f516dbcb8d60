"""Models of one operator that reads at an index and is no gather: `i` holds the indices, `low` to `high - 1` are in bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
import openvino as ov
from openvino import opset13 as ops
from openvino import opset15, opset16

from helpers.legalized import constant, model

_DOMAINS = ', "com.microsoft" : 1, "ai.onnx.ml" : 3'


@dataclass(frozen=True)
class OnnxCase:
    """A model in text."""

    signature: str
    nodes: str
    low: int
    high: int
    opset: int = 23

    @property
    def proto(self) -> onnx.ModelProto:
        made = model(self.signature, self.nodes, self.opset, _DOMAINS)
        if "GatherBlockQuantized" in self.nodes:
            import ml_dtypes

            constant(np.arange(64).reshape(4, 16).astype(ml_dtypes.uint4), made, "d")
            constant(np.full((4, 1), 2, np.float32), made, "s")
        return made

    def feed(self, rng: np.random.Generator, index: int) -> dict[str, np.ndarray]:
        """Return inputs with one index, the last; floats are random, and other integers 0, which is in bounds of each axis."""
        found = {}
        for given in self.proto.graph.input:
            kind = onnx.helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type)
            shape = [dim.dim_value for dim in given.type.tensor_type.shape.dim]
            found[given.name] = rng.random(shape).astype(kind) if kind.kind == "f" else np.zeros(shape, kind)
        found["i"].ravel()[-1:] = index  # the others are 0, in bounds of each
        return found


def _embed(ids: str, kinds: str, places: str = "") -> OnnxCase:
    names = ", ".join(f"int32[1,2] {name}" for name in ("a", "b", "i") if name in (ids, kinds, places))
    tables = "float[5,8] w, float[6,8] p, float[2,8] t, float[8] g, float[8] z"
    size = {ids: 5, kinds: 2, places: 6}["i"]
    rest = f", , {places}" if places else ""
    nodes = f"y, m = com.microsoft.EmbedLayerNormalization<epsilon = 1e-5>({ids}, {kinds}, w, p, t, g, z{rest})"
    return OnnxCase(f"{names}, {tables}) => (float[1,2,8] y, int32[1] m)", nodes, 0, size, 17)


def _recurrent(kind: str, gates: int) -> OnnxCase:
    signature = f"float[4,2,2] x, float[1,{3 * gates},2] w, float[1,{3 * gates},3] r, int32[2] i) => (float[1,2,3] h)"
    return OnnxCase(signature, f", h = {kind}<hidden_size = 3>(x, w, r, , i)", 0, 5, 22)


ONNX_CASES = {
    "Attention": OnnxCase(
        "float[2,1,2,4] q, float[2,1,3,4] k, float[2,1,3,4] v, int64[2] i) => (float[2,1,2,4] y)",
        "y = Attention(q, k, v, , , , i)",
        0,
        4,
        24,
    ),
    "EmbedLayerNormalization ids": _embed("i", "a"),
    "EmbedLayerNormalization segments": _embed("a", "i"),
    "EmbedLayerNormalization positions": _embed("a", "b", "i"),
    "GatherBlockQuantized": OnnxCase(
        "int64[2] i) => (float[2,16] y)",
        "y = com.microsoft.GatherBlockQuantized<gather_axis = 0, quantize_axis = 1, block_size = 16>(d, i, s)",
        -4,
        4,
        21,
    ),
    "GatherND of com.microsoft": OnnxCase(
        "float[5,8] d, int64[3,1] i) => (float[3,8] y)", "y = com.microsoft.GatherND(d, i)", -5, 5
    ),
    "GRU": _recurrent("GRU", 3),
    "LSTM": _recurrent("LSTM", 4),
    "NegativeLogLikelihoodLoss": OnnxCase(
        "float[2,8] x, int64[2] i) => (float[2] y)", 'y = NegativeLogLikelihoodLoss<reduction = "none">(x, i)', -8, 8, 22
    ),
    "RNN": _recurrent("RNN", 1),
    "RoiAlign": OnnxCase(
        "float[2,1,4,4] x, float[2,4] r, int64[2] i) => (float[2,1,2,2] y)",
        "y = RoiAlign<output_height = 2, output_width = 2, sampling_ratio = 2>(x, r, i)",
        0,
        2,
        16,
    ),
    "RotaryEmbedding": OnnxCase(
        "float[1,2,2,8] x, float[6,4] c, float[6,4] s, int64[1,2] i) => (float[1,2,2,8] y)",
        "y = RotaryEmbedding(x, c, s, i)",
        0,
        6,
    ),
    "RotaryEmbedding of com.microsoft": OnnxCase(
        "float[1,2,2,8] x, float[6,4] c, float[6,4] s, int64[1,2] i) => (float[1,2,2,8] y)",
        "y = com.microsoft.RotaryEmbedding<interleaved = 0>(x, i, c, s)",
        0,
        6,
    ),
    "RotaryEmbedding of com.microsoft, first position": OnnxCase(
        "float[2,2,2,8] x, float[6,4] c, float[6,4] s, int64[1] i) => (float[2,2,2,8] y)",
        "y = com.microsoft.RotaryEmbedding<interleaved = 0>(x, i, c, s)",
        0,
        5,
    ),
    "SequenceAt of a construct": OnnxCase(
        "float[3] a, float[3] b, int64 i) => (float[3] y)", "q = SequenceConstruct(a, b) y = SequenceAt(q, i)", -2, 2, 18
    ),
    "SequenceAt of a split": OnnxCase(
        "float[5,3] a, int64 i) => (float[3] y)", "q = SplitToSequence<keepdims = 0>(a) y = SequenceAt(q, i)", -5, 5, 18
    ),
    "SoftmaxCrossEntropyLoss": OnnxCase(
        "float[2,8] x, int64[2] i) => (float[2] y)", 'y = SoftmaxCrossEntropyLoss<reduction = "none">(x, i)', -8, 8, 22
    ),
}


@dataclass(frozen=True)
class OpenvinoCase:
    """An operation on floats of the shape `data`, and on indices of the shape `indices`, which address `axis` of the floats."""

    make: Callable[[ov.Output, ov.Output], ov.Node]
    data: tuple[int, ...]
    indices: tuple[int, ...]
    low: int
    high: int
    axis: int = 0

    def model(self, *, is_open: bool = False) -> ov.Model:
        """Return the model; if `is_open`, the axis has an open size."""
        dims = [-1 if is_open and axis == self.axis else dim for axis, dim in enumerate(self.data)]
        x = ops.parameter(dims, np.float32, name="x")
        i = ops.parameter(self.indices, np.int32, name="i")
        return ov.Model(self.make(x, i).outputs()[:1], [x, i], "one")


def _constant(*shape: int) -> ov.Node:
    return ops.constant(np.random.default_rng(0).random(shape).astype(np.float32))


def _ints(*numbers: int) -> ov.Node:
    return ops.constant(np.array(numbers, np.int32))


_BOXES = np.array([[0, 0, 3, 3], [1, 1, 3, 3]], np.float32)
_TURNED = np.array([[1, 1, 2, 2, 0], [2, 2, 2, 2, 1]], np.float32)

OPENVINO_CASES = {
    "CTCGreedyDecoderSeqLen": OpenvinoCase(
        lambda x, i: ops.ctc_greedy_decoder_seq_len(x, i, _ints(4)), (2, 4, 5), (2,), 0, 5, 1
    ),
    "EmbeddingBagOffsetsSum": OpenvinoCase(lambda x, i: ops.embedding_bag_offsets_sum(x, i, _ints(0, 2)), (5, 8), (4,), 0, 5),
    "offsets of EmbeddingBagOffsetsSum": OpenvinoCase(
        lambda x, i: ops.embedding_bag_offsets_sum(x, _ints(0, 1, 2, 4), i), (5, 8), (2,), 0, 4
    ),
    "EmbeddingBagPackedSum": OpenvinoCase(ops.embedding_bag_packed_sum, (5, 8), (2, 2), 0, 5),
    "EmbeddingSegmentsSum": OpenvinoCase(
        lambda x, i: ops.embedding_segments_sum(x, i, _ints(0, 0, 1, 1), ops.constant(np.int32(2))), (5, 8), (4,), 0, 5
    ),
    "GRUSequence": OpenvinoCase(
        lambda x, i: ops.gru_sequence(
            x, _constant(2, 1, 3), i, _constant(1, 9, 2), _constant(1, 9, 3), _constant(1, 9), 3, "forward"
        ),
        (2, 4, 2),
        (2,),
        0,
        5,
        1,
    ),
    "LSTMSequence": OpenvinoCase(
        lambda x, i: ops.lstm_sequence(
            *(x, _constant(2, 1, 3), _constant(2, 1, 3), i, _constant(1, 12, 2), _constant(1, 12, 3), _constant(1, 12)),
            3,
            "forward",
        ),
        (2, 4, 2),
        (2,),
        0,
        5,
        1,
    ),
    "ROIAlign": OpenvinoCase(
        lambda x, i: ops.roi_align(x, ops.constant(_BOXES), i, 2, 2, 2, 1.0, "avg", "asymmetric"), (2, 1, 4, 4), (2,), 0, 2
    ),
    "ROIAlignRotated": OpenvinoCase(
        lambda x, i: opset15.roi_align_rotated(x, ops.constant(_TURNED), i, 2, 2, 2, 1.0, True), (2, 1, 4, 4), (2,), 0, 2
    ),
    "RNNSequence": OpenvinoCase(
        lambda x, i: ops.rnn_sequence(
            x, _constant(2, 1, 3), i, _constant(1, 3, 2), _constant(1, 3, 3), _constant(1, 3), 3, "forward"
        ),
        (2, 4, 2),
        (2,),
        0,
        5,
        1,
    ),
    "SegmentMax": OpenvinoCase(
        lambda x, i: opset16.segment_max(x, i, num_segments=ops.constant(np.int32(3)), fill_mode="ZERO"),
        (4, 2),
        (4,),
        0,
        2**31 - 1,
    ),
}

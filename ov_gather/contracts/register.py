"""The contract of each operator of OpenVINO."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ov_gather.contracts import along_axes, by_element, moves, recurrent, windows
from ov_gather.contracts.call import Call, Output
from ov_gather.ops.table import OPENVINO, OpKind, where

Contract = Callable[[Call], list[Output]]


def _of(contract: Contract, *types: str) -> dict[str, Contract]:
    return dict.fromkeys(types, contract)


CONTRACTS: Mapping[str, Contract] = {
    **_of(by_element.unary, *where(OPENVINO, lambda op: op.kind in (OpKind.ARITHMETIC, OpKind.FUNCTION))),
    **_of(by_element.compared, *where(OPENVINO, lambda op: op.kind is OpKind.COMPARISON)),
    **_of(along_axes.reduction, *where(OPENVINO, lambda op: op.kind is OpKind.REDUCTION)),
    **_of(by_element.arithmetic, "Add", "Divide", "FloorMod", "Maximum", "Minimum", "Mod", "Multiply", "Power"),
    **_of(by_element.arithmetic, "SquaredDifference", "Subtract"),
    **_of(by_element.bitwise, "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    **_of(by_element.shifted, "BitwiseLeftShift", "BitwiseRightShift"),
    **_of(by_element.logic, "LogicalAnd", "LogicalOr", "LogicalXor"),
    **_of(by_element.negated, "LogicalNot"),
    **_of(by_element.classified, "IsFinite", "IsInf", "IsNaN"),
    **_of(by_element.with_scalars, "HardSigmoid", "Selu"),
    **_of(by_element.same, "Identity"),
    "Clamp": by_element.clamp,
    "Convert": by_element.converted,
    "ConvertLike": by_element.converted_like,
    "PReLU": by_element.prelu,
    "Select": by_element.select,
    "Swish": by_element.swish,
    "BatchToSpace": moves.batch_to_space,
    "Broadcast": moves.broadcasted,
    "Concat": moves.concat,
    "DepthToSpace": moves.depth_to_space,
    "Pad": moves.pad,
    "Reshape": moves.reshape,
    "Reverse": moves.reverse,
    "ReverseSequence": moves.reverse_sequence,
    "Roll": moves.roll,
    "ShuffleChannels": moves.shuffle_channels,
    "Slice": moves.slice_8,
    "SpaceToBatch": moves.space_to_batch,
    "SpaceToDepth": moves.space_to_depth,
    "Split": moves.split,
    "Squeeze": moves.squeeze,
    "StridedSlice": moves.strided_slice,
    "Tile": moves.tile,
    "Transpose": moves.transpose,
    "Unsqueeze": moves.unsqueeze,
    "VariadicSplit": moves.variadic_split,
    "AvgPool": windows.pool,
    "Convolution": windows.convolution,
    "ConvolutionBackpropData": windows.backprop,
    "Einsum": windows.einsum,
    "GroupConvolution": windows.group_convolution,
    "GroupConvolutionBackpropData": windows.backprop,
    "Interpolate": windows.interpolate,
    "MatMul": windows.matmul,
    "MaxPool": windows.pool,
    "BatchNormInference": along_axes.batch_norm,
    "Bucketize": along_axes.bucketized,
    "CumSum": along_axes.cumulated,
    "Eye": along_axes.eye,
    "FakeQuantize": along_axes.fake_quantize,
    "GroupNormalization": along_axes.group_norm,
    "LRN": along_axes.lrn,
    "LogSoftmax": along_axes.of_axis,
    "MVN": along_axes.mvn,
    "NonZero": along_axes.non_zero,
    "NormalizeL2": along_axes.normalize_l2,
    "OneHot": along_axes.one_hot,
    "RandomUniform": along_axes.random_uniform,
    "Range": along_axes.counted,
    "ShapeOf": along_axes.shape_of,
    "SoftMax": along_axes.of_axis,
    "TopK": along_axes.top_k,
    "Unique": along_axes.unique,
    **_of(recurrent.cell, "GRUCell", "LSTMCell", "RNNCell"),
    **_of(recurrent.sequence, "GRUSequence", "LSTMSequence", "RNNSequence"),
}
"""By the type that <layer type> writes. An operator without a row is not judged."""

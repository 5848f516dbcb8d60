"""The contract of each operator of OpenVINO, and how many inputs it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ov_gather.ops.contracts import (
    along_axes,
    boxes,
    by_element,
    colors,
    control,
    decoding,
    lookups,
    moves,
    products,
    proposals,
    recurrent,
    regions,
    slices,
    spectra,
    states,
    windows,
)
from ov_gather.ops.contracts.call import BadCountError, Call, Output
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.system.tables import counted

MANY = 2**31
Contract = Callable[[Call], list[Output]]


@dataclass(frozen=True, slots=True)
class Row:
    """A contract, the least and the most inputs, and the most outputs. A layer may leave out the last outputs."""

    contract: Contract
    least: int
    most: int
    most_outputs: int

    def outputs(self, call: Call) -> list[Output]:
        """Return what the outputs are. Raises ContractError; UnjudgedError if that is not known."""
        if not self.least <= call.count <= self.most:
            wanted = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
            wanted = f"{self.least} or more" if self.most == MANY else wanted
            raise BadCountError(f"the layer has {counted(call.count, 'input')}", f"{call.type} takes {wanted}")
        _count_outputs(call, self.most_outputs)
        found = self.contract(call)
        _count_outputs(call, len(found))
        return found


def _count_outputs(call: Call, most: int) -> None:
    if call.output_ports > most:
        raise BadCountError(
            f"the layer has {counted(call.output_ports, 'output')}", f"{call.type} has {most} with these inputs"
        )


def _rows(contract: Contract, least: int, most: int, *types: str | Iterable[str], outputs: int = 1) -> dict[str, Row]:
    names = (name for given in types for name in ((given,) if isinstance(given, str) else given))
    return dict.fromkeys(names, Row(contract, least, most, outputs))


CONTRACTS: Mapping[str, Row] = {
    **_rows(by_element.unary, 1, 1, where(OPENVINO, lambda op: op.kind in (OpKind.ARITHMETIC, OpKind.FUNCTION))),
    **_rows(by_element.compared, 2, 2, where(OPENVINO, lambda op: op.kind is OpKind.COMPARISON)),
    **_rows(along_axes.reduction, 2, 2, where(OPENVINO, lambda op: op.kind is OpKind.REDUCTION)),
    **_rows(by_element.arithmetic, 2, 2, "Add", "Divide", "FloorMod", "Maximum", "Minimum", "Mod", "Multiply", "Power"),
    **_rows(by_element.arithmetic, 2, 2, "SquaredDifference", "Subtract"),
    **_rows(by_element.bitwise, 2, 2, "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    **_rows(by_element.inverted, 1, 1, "BitwiseNot"),
    **_rows(by_element.shifted, 2, 2, "BitwiseLeftShift", "BitwiseRightShift"),
    **_rows(by_element.logic, 2, 2, "LogicalAnd", "LogicalOr", "LogicalXor", "Xor"),
    **_rows(by_element.negated, 1, 1, "LogicalNot"),
    **_rows(by_element.classified, 1, 1, "IsFinite", "IsInf", "IsNaN"),
    **_rows(by_element.with_scalars, 3, 3, "HardSigmoid", "Selu"),
    **_rows(by_element.of_reals, 1, 1, "ErfInv"),
    **_rows(by_element.fake_converted, 2, 3, "FakeConvert"),
    **_rows(by_element.promoted, 2, 2, "ConvertPromoteTypes", outputs=2),
    **_rows(by_element.same, 1, 1, "Identity"),
    **_rows(by_element.clamp, 1, 1, "Clamp"),
    **_rows(by_element.converted, 1, 1, "Convert"),
    **_rows(by_element.converted_like, 2, 2, "ConvertLike"),
    **_rows(by_element.prelu, 2, 2, "PReLU", "PRelu"),
    **_rows(by_element.select, 3, 3, "Select"),
    **_rows(by_element.swish, 1, 2, "Swish"),
    **_rows(moves.batch_to_space, 4, 4, "BatchToSpace"),
    **_rows(moves.broadcasted, 2, 3, "Broadcast"),
    **_rows(moves.concat, 1, MANY, "Concat"),
    **_rows(moves.depth_to_space, 1, 1, "DepthToSpace"),
    **_rows(moves.pad, 3, 4, "Pad"),
    **_rows(moves.reshape, 2, 2, "Reshape"),
    **_rows(moves.reverse, 2, 2, "Reverse"),
    **_rows(moves.reverse_sequence, 2, 2, "ReverseSequence"),
    **_rows(moves.roll, 3, 3, "Roll"),
    **_rows(moves.shuffle_channels, 1, 1, "ShuffleChannels"),
    **_rows(slices.slice_8, 4, 5, "Slice"),
    **_rows(moves.space_to_batch, 4, 4, "SpaceToBatch"),
    **_rows(moves.space_to_depth, 1, 1, "SpaceToDepth"),
    **_rows(moves.split, 2, 2, "Split", outputs=MANY),
    **_rows(moves.squeeze, 1, 2, "Squeeze"),
    **_rows(slices.scatter_slice, 5, 6, "SliceScatter"),
    **_rows(moves.packed_strings, 3, 3, "StringTensorPack"),
    **_rows(moves.unpacked_strings, 1, 1, "StringTensorUnpack", outputs=3),
    **_rows(slices.strided_slice, 3, 4, "StridedSlice"),
    **_rows(moves.tile, 2, 2, "Tile"),
    **_rows(moves.transpose, 2, 2, "Transpose"),
    **_rows(moves.unsqueeze, 2, 2, "Unsqueeze"),
    **_rows(moves.variadic_split, 3, 3, "VariadicSplit", outputs=MANY),
    **_rows(windows.pool, 1, 1, "AvgPool"),
    **_rows(windows.pool, 1, 1, "MaxPool", outputs=2),
    **_rows(windows.convolution, 2, 2, "Convolution"),
    **_rows(windows.group_convolution, 2, 2, "GroupConvolution"),
    **_rows(windows.backprop, 2, 3, "ConvolutionBackpropData", "GroupConvolutionBackpropData"),
    **_rows(products.einsum, 1, MANY, "Einsum"),
    **_rows(windows.adaptive_pool, 2, 2, "AdaptiveAvgPool", "AdaptiveMaxPool", outputs=2),
    **_rows(windows.binary_convolution, 2, 2, "BinaryConvolution"),
    **_rows(windows.columns_to_image, 3, 3, "Col2Im"),
    **_rows(windows.deformable_convolution, 3, 4, "DeformableConvolution"),
    **_rows(windows.grid_sample, 2, 2, "GridSample"),
    **_rows(windows.patches, 1, 1, "ExtractImagePatches"),
    **_rows(windows.interpolate, 2, 4, "Interpolate"),
    **_rows(products.attention, 3, 6, "ScaledDotProductAttention"),
    **_rows(products.grouped_matmul, 2, 3, "GroupedMatMul"),
    **_rows(products.inverse, 1, 1, "Inverse"),
    **_rows(products.matmul, 2, 2, "MatMul"),
    **_rows(along_axes.batch_norm, 5, 5, "BatchNormInference"),
    **_rows(along_axes.bucketized, 2, 2, "Bucketize"),
    **_rows(along_axes.cumulated, 2, 2, "CumSum"),
    **_rows(along_axes.eye, 3, 4, "Eye"),
    **_rows(along_axes.fake_quantize, 5, 5, "FakeQuantize"),
    **_rows(along_axes.group_norm, 3, 3, "GroupNormalization"),
    **_rows(along_axes.grn, 1, 1, "GRN"),
    **_rows(along_axes.lrn, 2, 2, "LRN"),
    **_rows(along_axes.of_axis, 1, 1, "LogSoftmax", "SoftMax"),
    **_rows(along_axes.mvn, 1, 2, "MVN"),
    **_rows(along_axes.non_zero, 1, 1, "NonZero"),
    **_rows(along_axes.normalize_l2, 2, 2, "NormalizeL2"),
    **_rows(along_axes.one_hot, 4, 4, "OneHot"),
    **_rows(along_axes.multinomial, 2, 2, "Multinomial"),
    **_rows(along_axes.random_uniform, 3, 3, "RandomUniform"),
    **_rows(along_axes.counted, 3, 3, "Range"),
    **_rows(along_axes.shape_of, 1, 1, "ShapeOf"),
    **_rows(along_axes.top_k, 2, 2, "TopK", outputs=2),
    **_rows(along_axes.unique, 1, 2, "Unique", outputs=4),
    **_rows(regions.roi_pooling, 2, 2, "ROIPooling"),
    **_rows(regions.roi_align, 3, 3, "ROIAlign", "ROIAlignRotated"),
    **_rows(regions.psroi_pooling, 2, 2, "PSROIPooling"),
    **_rows(regions.deformable_psroi_pooling, 2, 3, "DeformablePSROIPooling"),
    **_rows(regions.of_pyramid, 2, MANY, "ExperimentalDetectronROIFeatureExtractor", outputs=2),
    **_rows(regions.region_yolo, 1, 1, "RegionYolo"),
    **_rows(regions.reorg_yolo, 1, 1, "ReorgYolo"),
    **_rows(boxes.suppression, 2, 6, "NonMaxSuppression", outputs=3),
    **_rows(boxes.suppression, 5, 5, "NMSRotated", outputs=3),
    **_rows(boxes.matrix_nms, 2, 2, "MatrixNms", outputs=3),
    **_rows(boxes.multiclass_nms, 2, 3, "MulticlassNms", outputs=3),
    **_rows(boxes.detection_output, 3, 5, "DetectionOutput"),
    **_rows(boxes.detectron_detection_output, 4, 4, "ExperimentalDetectronDetectionOutput", outputs=3),
    **_rows(boxes.best_regions, 2, 2, "ExperimentalDetectronTopKROIs"),
    **_rows(proposals.proposal, 3, 3, "Proposal", outputs=2),
    **_rows(proposals.generate_proposals, 4, 4, "GenerateProposals", outputs=3),
    **_rows(proposals.of_one_image, 4, 4, "ExperimentalDetectronGenerateProposalsSingleImage", outputs=2),
    **_rows(proposals.prior_grid, 3, 3, "ExperimentalDetectronPriorGridGenerator"),
    **_rows(proposals.prior_boxes, 2, 2, "PriorBox"),
    **_rows(proposals.clustered_priors, 2, 2, "PriorBoxClustered"),
    **_rows(colors.to_colors, 1, 2, "NV12toBGR", "NV12toRGB"),
    **_rows(colors.to_colors, 1, 3, "I420toBGR", "I420toRGB"),
    **_rows(colors.to_nv12, 1, 1, "BGRtoNV12", "RGBtoNV12", outputs=2),
    **_rows(lookups.bags, 3, 5, "EmbeddingBagOffsetsSum", "EmbeddingBagOffsets"),
    **_rows(lookups.packed_bags, 2, 3, "EmbeddingBagPackedSum", "EmbeddingBagPacked"),
    **_rows(lookups.segments, 4, 6, "EmbeddingSegmentsSum"),
    **_rows(lookups.search_sorted, 2, 2, "SearchSorted"),
    **_rows(lookups.segment_max, 2, 3, "SegmentMax"),
    **_rows(lookups.sparse_filled, 4, 4, "SparseFillEmptyRows", outputs=3),
    **_rows(decoding.beams, 4, 4, "GatherTree"),
    **_rows(decoding.greedy, 2, 2, "CTCGreedyDecoder"),
    **_rows(decoding.greedy_by_length, 2, 3, "CTCGreedyDecoderSeqLen", outputs=2),
    **_rows(decoding.loss, 4, 5, "CTCLoss"),
    **_rows(spectra.fourier, 2, 3, "DFT", "IDFT", "IRDFT", "RDFT"),
    **_rows(spectra.framed, 4, 4, "STFT"),
    **_rows(spectra.unframed, 4, 5, "ISTFT"),
    **_rows(control.branches, 1, MANY, "If", outputs=MANY),
    **_rows(control.loop, 2, MANY, "Loop", outputs=MANY),
    **_rows(control.iterator, 1, MANY, "TensorIterator", outputs=MANY),
    **_rows(states.read_value, 0, 1, "ReadValue"),
    **_rows(states.assign, 0, MANY, "Assign", outputs=MANY),  # its ports are counted elsewhere
    **_rows(recurrent.cell, 5, 5, "GRUCell", "RNNCell"),
    **_rows(recurrent.cell, 6, 7, "LSTMCell", outputs=2),
    **_rows(recurrent.sequence, 6, 6, "GRUSequence", "RNNSequence", outputs=2),
    **_rows(recurrent.sequence, 7, 7, "LSTMSequence", outputs=3),
}
"""By the type that <layer type> writes. An operator without a row is not judged."""

OURS: Mapping[str, Row] = _rows(lookups.aggregation, 3, 4, "GatherScatter")
"""The same of opset `ov_gather`, but for the gather family, whose operations have files of their own."""

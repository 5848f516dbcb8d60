"""The operations of OpenVINO 2026.4.1, as data. A test compares the table with the installed OpenVINO.

Each row has the numbers of opsets, the types of layers that these opsets hold in the same version, and the attributes of these
types with their kinds. A kind is int, float, bool, text, ints, floats, type (an element type), shape, or the words that are
allowed.
"""

from __future__ import annotations

from collections.abc import Mapping

TABLE = """
1-16 Abs Acos Asin Atan Ceiling ConvertLike Cos Cosh Erf Exp Floor GatherTree HardSigmoid Log LogicalNot Negative PReLU ReLU
    Result Selu Sigmoid Sign Sin Sinh Sqrt Tan Tanh TensorIterator Tile Transpose Unsqueeze VariadicSplit
1-6 Gather
1-3 Range
1-2 ShapeOf
1-14 Squeeze
1-16 Add Equal FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalXor Maximum Minimum Mod Multiply
    NotEqual Power Select SquaredDifference Subtract auto_broadcast:none|explicit|numpy|pdpd
1-13 AvgPool kernel:ints strides:ints pads_begin:ints pads_end:ints exclude-pad:bool
    auto_pad:explicit|same_lower|same_upper|valid rounding_type:ceil|ceil_torch|floor
1-4 BatchNormInference epsilon:float
1-16 BinaryConvolution strides:ints pads_begin:ints pads_end:ints dilations:ints mode:xnor-popcount pad_value:float
    auto_pad:explicit|same_lower|same_upper|valid
1-2 Broadcast mode:none|explicit|numpy|pdpd
1-16 CTCGreedyDecoder ctc_merge_repeated:bool
1-16 Clamp min:float max:float
1-16 Concat axis:int
1-7 SoftMax axis:int
1-16 Const element_type:type shape:shape offset:int size:int
1-17 Convert destination_type:type
1-16 Convolution strides:ints dilations:ints pads_begin:ints pads_end:ints auto_pad:explicit|same_lower|same_upper|valid
1-16 ConvolutionBackpropData strides:ints dilations:ints pads_begin:ints pads_end:ints
    auto_pad:explicit|same_lower|same_upper|valid output_padding:ints
1-7 DeformableConvolution strides:ints dilations:ints pads_begin:ints pads_end:ints
    auto_pad:explicit|same_lower|same_upper|valid group:int deformable_group:int
1-16 DeformablePSROIPooling output_dim:int spatial_scale:float group_size:int mode:text spatial_bins_x:int spatial_bins_y:int
    trans_std:float part_size:int
1-16 DepthToSpace SpaceToDepth block_size:int mode:blocks_first|depth_first
1-7 DetectionOutput num_classes:int background_label_id:int top_k:int variance_encoded_in_target:bool keep_top_k:ints
    code_type:text share_location:bool nms_threshold:float confidence_threshold:float clip_after_nms:bool clip_before_nms:bool
    decrease_label_id:bool normalized:bool input_height:int input_width:int objectness_score:float
1-16 Divide auto_broadcast:none|explicit|numpy|pdpd m_pythondiv:bool
1-16 Elu alpha:float
1-16 FakeQuantize levels:int auto_broadcast:none|explicit|numpy|pdpd
1-16 GRN bias:float
1-16 GroupConvolution strides:ints pads_begin:ints pads_end:ints dilations:ints auto_pad:explicit|same_lower|same_upper|valid
1-16 GroupConvolutionBackpropData strides:ints pads_begin:ints pads_end:ints dilations:ints
    auto_pad:explicit|same_lower|same_upper|valid output_padding:ints
1-3 Interpolate align_corners:bool antialias:bool axes:ints mode:text pads_begin:ints pads_end:ints
1-16 LRN alpha:float beta:float bias:float size:int
1-3 LSTMCell hidden_size:int activations:text activations_alpha:floats activations_beta:floats clip:float input_forget:bool
    weights_format:fico|icof|ifco|ifoc|iofc
1-5 MVN eps:float across_channels:bool normalize_variance:bool reduction_axes:ints
1-16 MatMul transpose_a:bool transpose_b:bool
1-7 MaxPool strides:ints pads_begin:ints pads_end:ints kernel:ints rounding_type:ceil|ceil_torch|floor
    auto_pad:explicit|same_lower|same_upper|valid
1-2 NonMaxSuppression box_encoding:center|corner sort_result_descending:bool
1-16 NormalizeL2 eps:float eps_mode:add|max
1-15 OneHot axis:int
1-16 PSROIPooling output_dim:int group_size:int spatial_scale:float mode:text spatial_bins_x:int spatial_bins_y:int
1-11 Pad pad_mode:constant|edge|reflect|symmetric
1-17 Parameter shape:shape element_type:type
1-7 PriorBox min_size:floats max_size:floats aspect_ratio:floats density:floats fixed_ratio:floats fixed_size:floats clip:bool
    flip:bool step:float offset:float variance:floats scale_all_sizes:bool
1-16 PriorBoxClustered step:float step_w:float step_h:float width:floats height:floats clip:bool offset:float variance:floats
1-3 Proposal base_size:int pre_nms_topn:int post_nms_topn:int nms_thresh:float feat_stride:int min_size:int ratio:floats
    scale:floats clip_before_nms:bool clip_after_nms:bool normalize:bool box_size_scale:float box_coordinate_scale:float
    framework:text
1,3-16 RNNCell hidden_size:int activations:text activations_alpha:floats activations_beta:floats clip:float
1-16 ROIPooling output_size:ints output_roi:ints pooled_h:int pooled_w:int spatial_scale:float method:text
1-16 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum keep_dims:bool
1-16 RegionYolo anchors:floats axis:int coords:int classes:int end_axis:int num:int do_softmax:bool mask:ints
1-16 ReorgYolo stride:ints
1-16 Reshape special_zero:bool
1 Reverse mode:index|mask
1-16 ReverseSequence batch_axis:int seq_axis:int
1,3-16 ShuffleChannels axis:int group:int
1-16 Split num_splits:int
1-16 StridedSlice begin_mask:ints end_mask:ints new_axis_mask:ints shrink_axis_mask:ints ellipsis_mask:ints
1-2 TopK axis:int mode:max|min sort:index|none|value index_element_type:type
1 Xor auto_broadcast:none|explicit|numpy|pdpd
2-16 BatchToSpace SpaceToBatch
2-6 Gelu
3-16 EmbeddingBagOffsetsSum EmbeddingBagPackedSum EmbeddingSegmentsSum ScatterUpdate
3-11 ScatterElementsUpdate
3-5 Assign variable_id:text
3-16 Broadcast mode:bidirectional|explicit|none|numpy|pdpd
3-16 Bucketize output_type:type with_right_bound:bool
3-16 CumSum exclusive:bool reverse:bool
3-16 ExtractImagePatches sizes:ints strides:ints rates:ints auto_pad:explicit|same_lower|same_upper|valid
3-16 GRUCell linear_before_reset:bool hidden_size:int activations:text activations_alpha:floats activations_beta:floats
    clip:float
3 NonMaxSuppression box_encoding:center|corner sort_result_descending:bool output_type:type
3-16 NonZero output_type:type
3-8 ROIAlign pooled_h:int pooled_w:int sampling_ratio:int spatial_scale:float mode:avg|max
3-5 ReadValue variable_id:text
3-17 ShapeOf output_type:type
3-10 TopK axis:int mode:max|min sort:index|none|value index_element_type:type
4-16 Acosh Asinh Atanh HSwish Mish SoftPlus Swish
4-14 ScatterNDUpdate
4-16 CTCLoss preprocess_collapse_repeated:bool ctc_merge_repeated:bool unique:bool
4-10 Interpolate mode:bicubic_pillow|bilinear_pillow|cubic|linear|linear_onnx|nearest shape_calculation_mode:scales|sizes
    coordinate_transformation_mode:align_corners|asymmetric|half_pixel|pytorch_half_pixel|tf_half_pixel_for_nn
    nearest_mode:ceil|floor|round_prefer_ceil|round_prefer_floor|simple antialias:bool pads_begin:ints pads_end:ints
    cube_coeff:float
4-16 LSTMCell hidden_size:int activations:text activations_alpha:floats activations_beta:floats clip:float
4-16 Proposal base_size:int pre_nms_topn:int post_nms_topn:int nms_thresh:float feat_stride:int min_size:int ratio:floats
    scale:floats clip_before_nms:bool clip_after_nms:bool normalize:bool box_size_scale:float box_coordinate_scale:float
    framework:text
4-16 Range output_type:type
4 NonMaxSuppression box_encoding:center|corner sort_result_descending:bool output_type:type
4-16 ReduceL1 ReduceL2 keep_dims:bool
5-16 HSigmoid Loop
5-16 BatchNormInference epsilon:float
5-16 GRUSequence direction:bidirectional|forward|reverse linear_before_reset:bool hidden_size:int activations:text
    activations_alpha:floats activations_beta:floats clip:float
5-7 GatherND batch_dims:int
5-16 LSTMSequence RNNSequence direction:bidirectional|forward|reverse hidden_size:int activations:text
    activations_alpha:floats activations_beta:floats clip:float
5-16 LogSoftmax axis:int
5-8 NonMaxSuppression box_encoding:center|corner sort_result_descending:bool output_type:type
5-16 Round mode:half_away_from_zero|half_to_even
6-16 Assign variable_id:text
6-16 CTCGreedyDecoderSeqLen merge_repeated:bool classes_index_type:type sequence_length_type:type
6-16 ExperimentalDetectronDetectionOutput score_threshold:float nms_threshold:float max_delta_log_wh:float num_classes:int
    post_nms_count:int max_detections_per_image:int class_agnostic_box_regression:bool deltas_weights:floats
6-16 ExperimentalDetectronGenerateProposalsSingleImage min_size:float nms_threshold:float post_nms_count:int pre_nms_count:int
6-16 ExperimentalDetectronPriorGridGenerator flatten:bool h:int w:int stride_x:float stride_y:float
6-16 ExperimentalDetectronROIFeatureExtractor output_size:int sampling_ratio:int pyramid_scales:ints aligned:bool
6-16 ExperimentalDetectronTopKROIs max_rois:int
6-16 GatherElements axis:int
6-16 MVN eps:float normalize_variance:bool eps_mode:inside_sqrt|outside_sqrt
6-16 ReadValue variable_id:text variable_type:type variable_shape:shape
7-16 DFT IDFT Roll
7-16 Einsum equation:text
7 Gather batch_dims:int
7-16 Gelu approximation_mode:erf|tanh
8-16 Gather GatherND batch_dims:int
8-16 SoftMax axis:int
8-16 AdaptiveAvgPool I420toBGR I420toRGB If NV12toBGR NV12toRGB Slice
8-16 AdaptiveMaxPool index_element_type:type
8-16 DeformableConvolution bilinear_interpolation_pad:bool strides:ints dilations:ints pads_begin:ints pads_end:ints
    auto_pad:explicit|same_lower|same_upper|valid group:int deformable_group:int
8-16 DetectionOutput background_label_id:int top_k:int variance_encoded_in_target:bool keep_top_k:ints code_type:text
    share_location:bool nms_threshold:float confidence_threshold:float clip_after_nms:bool clip_before_nms:bool
    decrease_label_id:bool normalized:bool input_height:int input_width:int objectness_score:float
8-16 MatrixNms sort_result_type:classid|none|score output_type:type nms_top_k:int keep_top_k:int sort_result_across_batch:bool
    score_threshold:float background_class:int decay_function:gaussian|linear gaussian_sigma:float post_threshold:float
    normalized:bool
8-13 MaxPool strides:ints dilations:ints pads_begin:ints pads_end:ints kernel:ints rounding_type:ceil|ceil_torch|floor
    auto_pad:explicit|same_lower|same_upper|valid index_element_type:type axis:int
8 MulticlassNms sort_result_type:classid|none|score output_type:type nms_top_k:int keep_top_k:int
    sort_result_across_batch:bool iou_threshold:float score_threshold:float background_class:int nms_eta:float normalized:bool
8-16 PriorBox min_size:floats max_size:floats aspect_ratio:floats density:floats fixed_ratio:floats fixed_size:floats
    clip:bool flip:bool step:float offset:float variance:floats scale_all_sizes:bool min_max_aspect_ratios_order:bool
8-16 RandomUniform output_type:type op_seed:int global_seed:int alignment:mock|pytorch|tensorflow
9-16 IRDFT RDFT SoftSign
9-16 MulticlassNms sort_result_type:classid|none|score output_type:type nms_top_k:int keep_top_k:int
    sort_result_across_batch:bool iou_threshold:float score_threshold:float background_class:int nms_eta:float normalized:bool
9-16 Eye output_type:type
9-16 GenerateProposals min_size:float nms_threshold:float post_nms_count:int pre_nms_count:int normalized:bool nms_eta:float
    roi_num_type:type
9-16 GridSample align_corners:bool mode:bicubic|bilinear|nearest padding_mode:border|reflection|zeros
9-16 NonMaxSuppression box_encoding:center|corner sort_result_descending:bool output_type:type
9-16 ROIAlign pooled_h:int pooled_w:int sampling_ratio:int spatial_scale:float mode:avg|max
    aligned_mode:asymmetric|half_pixel|half_pixel_for_nn
10-16 IsFinite IsNaN
10-16 IsInf detect_negative:bool detect_positive:bool
10-16 Unique sorted:bool index_element_type:type count_element_type:type
11-16 Interpolate mode:bicubic_pillow|bilinear_pillow|cubic|linear|linear_onnx|nearest shape_calculation_mode:scales|sizes
    coordinate_transformation_mode:align_corners|asymmetric|half_pixel|pytorch_half_pixel|tf_half_pixel_for_nn
    nearest_mode:ceil|floor|round_prefer_ceil|round_prefer_floor|simple antialias:bool pads_begin:ints pads_end:ints
    cube_coeff:float
11-16 TopK axis:int mode:max|min sort:index|none|value index_element_type:type stable:bool
12-16 Pad pad_mode:constant|edge|reflect|symmetric
12-16 GroupNormalization num_groups:int epsilon:float
12-16 ScatterElementsUpdate reduction:max|mean|min|none|prod|sum use_init_val:bool
13-16 BitwiseNot
13-16 BitwiseAnd BitwiseOr BitwiseXor auto_broadcast:none|explicit|numpy|pdpd
13-16 FakeConvert destination_type:type
13-16 Multinomial convert_type:type with_replacement:bool log_probs:bool global_seed:int op_seed:int
13-16 NMSRotated sort_result_descending:bool output_type:type clockwise:bool
13-16 ScaledDotProductAttention causal:bool
14-16 ConvertPromoteTypes promote_unsafe:bool pytorch_scalar_promotion:bool u64_integer_promotion_target:type
14-15 AvgPool kernel:ints strides:ints pads_begin:ints pads_end:ints exclude-pad:bool
    auto_pad:explicit|same_lower|same_upper|valid rounding_type:ceil|ceil_torch|floor
14-16 Inverse adjoint:bool
14-16 MaxPool strides:ints dilations:ints pads_begin:ints pads_end:ints kernel:ints rounding_type:ceil|ceil_torch|floor
    auto_pad:explicit|same_lower|same_upper|valid index_element_type:type axis:int
15-16 SliceScatter StringTensorPack StringTensorUnpack
15-16 BitwiseLeftShift BitwiseRightShift auto_broadcast:none|explicit|numpy|pdpd
15-16 Col2Im strides:ints dilations:ints pads_begin:ints pads_end:ints
15-16 EmbeddingBagOffsets EmbeddingBagPacked reduction:mean|sum
15-16 ROIAlignRotated pooled_h:int pooled_w:int sampling_ratio:int spatial_scale:float clockwise_mode:bool
15-16 STFT transpose_frames:bool
15-16 ScatterNDUpdate reduction:max|min|none|prod|sub|sum
15-16 SearchSorted right_mode:bool output_type:type
15-16 Squeeze allow_axis_skip:bool
16 Identity SparseFillEmptyRows
16 AvgPool kernel:ints strides:ints pads_begin:ints pads_end:ints exclude-pad:bool
    auto_pad:explicit|same_lower|same_upper|valid rounding_type:ceil|ceil_torch|floor dilations:ints
16 ISTFT center:bool normalized:bool
16 OneHot axis:int negative_indices_mode:ignore_negative|normalize
16 SegmentMax fill_mode:zero|lowest
17 ErfInv GroupedMatMul
17 BGRtoNV12 RGBtoNV12 single_plane:bool
"""

PSEUDO_OPSETS = ("extension", "experimental")
"""Versions by which old converters named some operations, as OpenVINO reads them without an extension."""
IN_PSEUDO_OPSETS = ("ExperimentalDetectron", "GRUCell", "RNNCell", "Proposal")
"""How the types of these operations begin."""

PORTS = {
    "Parameter": ((), ("the value",)),
    "Const": ((), ("the value",)),
    "Result": (("the value",), ()),
    "Assign": (("the value",), ("the value",)),
}
"""Inputs and outputs of types that are the same in every opset."""
OWN_TYPES = ("FakeConvert", "ConvertPromoteTypes")
"""Operations with an attribute of kind `type` that is the type to compute with, and not that of an output."""
OLDER: Mapping[tuple[str, str], tuple[str, str, tuple[str, ...]]] = {
    ("AvgPool", "opset16"): ("opset14", "dilations", ("1", "1,1", "1,1,1", "")),
    ("OneHot", "opset16"): ("opset1", "negative_indices_mode", ("ignore_negative",)),
}
"""An older version that lacks one attribute, and is equivalent if that is missing or has one of these values."""

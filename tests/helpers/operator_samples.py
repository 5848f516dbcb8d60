"""One valid call of each operator of OpenVINO, as text; others are made of these by single changes.

A row has the type, the opset, attributes, then the inputs: a type with a shape, and the elements if it is a constant. The last
word, if it is a number, is how many outputs there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_WINDOWS = "strides=1,2 dilations=1,1 pads_begin=0,1 pads_end=0,1 auto_pad=explicit"
_POOL = "strides=1,2 pads_begin=0,1 pads_end=0,1 kernel=2,3 rounding_type=floor auto_pad=explicit"
_NUMPY = "auto_broadcast=numpy"
_CELL = "hidden_size=4 activations={} activations_alpha= activations_beta= clip=0"
_RESIZE = (
    "mode=nearest coordinate_transformation_mode=half_pixel nearest_mode=round_prefer_floor antialias=false pads_begin=0,0,0,0 "
    "pads_end=0,0,0,0 cube_coeff=-0.75"
)
_UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceiling Cos Cosh Erf Exp Floor HSigmoid HSwish Log Mish Negative ReLU Sigmoid Sign "
    "Sin Sinh SoftPlus SoftSign Sqrt Tan Tanh"
)
_BINARY = "Add FloorMod Maximum Minimum Mod Multiply Power SquaredDifference Subtract"
_COMPARISONS = "Equal Greater GreaterEqual Less LessEqual NotEqual"
_REDUCTIONS = "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum"
_ROWS = f"""
CTCGreedyDecoder 1 ctc_merge_repeated=true f32[5,2,4] f32[5,2]
CTCGreedyDecoderSeqLen 6 merge_repeated=true classes_index_type=i64 sequence_length_type=i32 f32[2,5,4] i32[2] i32[]=3 2
CTCLoss 4 preprocess_collapse_repeated=false ctc_merge_repeated=true unique=false f32[2,5,4] i32[2]=5,5 \
i32[2,5] i32[2]=2,3 i32[]=3
ConvertPromoteTypes 14 promote_unsafe=true pytorch_scalar_promotion=false u64_integer_promotion_target=f32 f32[2,3] f32[4] 2
ConvertPromoteTypes 14 promote_unsafe=false pytorch_scalar_promotion=true u64_integer_promotion_target=f32 i32[2,3] u8[] 2
ConvertPromoteTypes 14 promote_unsafe=true pytorch_scalar_promotion=false u64_integer_promotion_target=f64 i32[2,3] u64[3] 2
DFT 7 f32[2,4,5,2] i64[2]=1,2
DFT 7 f32[2,4,5,2] i64[2]=-1,0 i64[2]=3,-1
EmbeddingBagOffsets 15 reduction=sum f32[5,4,3] i32[4]=0,1,2,3 i32[3]=0,2,2 i32[]=0 f32[4]
EmbeddingBagOffsetsSum 3 f32[5,4,3] i32[4]=0,1,2,3 i32[3]=0,2,2 i32[]=0 f32[4]
EmbeddingBagPacked 15 reduction=mean f32[5,4] i32[3,2]
EmbeddingBagPackedSum 3 f32[5,4] i32[3,2] f32[3,2]
EmbeddingSegmentsSum 3 f32[5,4] i32[4]=0,1,2,3 i32[4]=0,0,2,2 i32[]=3 i32[]=0 f32[4]
ErfInv 17 f32[2,3]
FakeConvert 13 destination_type=f8e4m3 f32[2,3] f32[3] f32[3]
GatherTree 1 i32[4,2,3] i32[4,2,3] i32[2] i32[]=1
GroupedMatMul 17 f32[6,4] f32[3,5,4] i32[3]=2,4,6
GroupedMatMul 17 f32[3,6,4] f32[3,5,4]
IDFT 7 f32[2,4,5,2] i64[1]=1 i64[1]=3
IRDFT 9 f32[2,4,5,2] i64[2]=1,2
IRDFT 9 f32[2,4,5,2] i64[2]=1,2 i64[2]=3,6
ISTFT 16 center=false normalized=false f32[2,9,5,2] f32[16] i64[]=16 i64[]=4
ISTFT 16 center=true normalized=false f32[2,9,5,2] f32[16] i64[]=16 i64[]=4 i64[]=20
Inverse 14 adjoint=false f32[2,3,3]
Multinomial 13 convert_type=i64 with_replacement=true log_probs=false global_seed=1 op_seed=2 f32[2,4] i64[1]=3
RDFT 9 f32[2,4,5] i64[2]=1,2
RDFT 9 f32[2,4,5] i64[2]=0,-1 i64[2]=2,3
STFT 15 transpose_frames=true f32[2,40] f32[16] i64[]=16 i64[]=4
ScaledDotProductAttention 13 causal=false f32[2,3,4,8] f32[2,3,5,8] f32[2,3,5,6] f32[4,5] f32[]
ScaledDotProductAttention 13 causal=true f32[2,3,4,8] f32[2,3,5,8] f32[2,3,5,6] f32[4,5] f32[] f32[1,3,1,1]
SearchSorted 15 right_mode=true output_type=i64 f32[2,5] f32[2,3]
SegmentMax 16 fill_mode=zero f32[4,3] i64[4]=0,0,1,2 i64[]=3
SliceScatter 15 f32[6,7] f32[2,7] i64[2]=1,0 i64[2]=5,7 i64[2]=2,1 i64[2]=0,1
SparseFillEmptyRows 16 f32[3] i64[2]=4,5 i64[3,2]=0,1,0,2,3,0 f32[] 3
StringTensorPack 15 i32[2] i32[2] u8[6]
StringTensorUnpack 15 string[2] 3
Xor 1 {_NUMPY} boolean[2,3] boolean[3]
AvgPool 14 {_POOL} exclude-pad=true f32[1,3,8,9]
BatchNormInference 5 epsilon=0.001 f32[2,3,4] f32[3] f32[3] f32[3] f32[3]
BatchToSpace 2 f32[12,3,4,5] i64[4]=1,2,3,1 i64[4]=0,1,0,0 i64[4]=0,0,2,0
BitwiseLeftShift 15 {_NUMPY} i32[2,3] i32[3]
BitwiseNot 13 i32[2,3]
BitwiseRightShift 15 {_NUMPY} i32[2,3] i32[3]
Broadcast 3 mode=numpy f32[3,1] i64[3]=2,3,4
Broadcast 3 mode=bidirectional f32[3,1] i64[2]=1,4
Broadcast 3 mode=explicit f32[3,4] i64[3]=3,2,4 i64[2]=0,2
Bucketize 3 output_type=i64 with_right_bound=true f32[2,3] f32[4]
Clamp 1 min=-1.0 max=2.0 f32[2,3]
Concat 1 axis=1 f32[2,3,4] f32[2,5,4]
Convert 1 destination_type=i32 f32[2,3]
ConvertLike 8 f32[2,3] i32[4]
Convolution 1 {_WINDOWS} f32[1,3,8,9] f32[4,3,3,3]
ConvolutionBackpropData 1 {_WINDOWS} output_padding=0,1 f32[1,3,8,9] f32[3,4,3,3]
CumSum 3 exclusive=false reverse=false f32[2,3] i64[]=1
DepthToSpace 1 mode=blocks_first block_size=2 f32[1,12,3,4]
Divide 1 {_NUMPY} m_pythondiv=true f32[2,3] f32[3]
Einsum 7 equation=ij,jk->ik f32[2,3] f32[3,4]
Elu 1 alpha=1.0 f32[2,3]
Eye 9 output_type=f32 i64[]=3 i64[]=4 i64[]=1
FakeQuantize 1 levels=256 {_NUMPY} f32[1,3,4,5] f32[] f32[] f32[] f32[]
GRUCell 3 {_CELL.format("sigmoid,tanh")} linear_before_reset=false f32[2,3] f32[2,4] f32[12,3] f32[12,4] f32[12]
GRUSequence 5 {_CELL.format("sigmoid,tanh")} linear_before_reset=true direction=forward f32[2,5,3] f32[2,1,4] i64[2] \
f32[1,12,3] f32[1,12,4] f32[1,16] 2
Gelu 7 approximation_mode=ERF f32[2,3]
GroupConvolution 1 {_WINDOWS} f32[1,6,8,9] f32[2,4,3,3,3]
GroupConvolutionBackpropData 1 {_WINDOWS} output_padding=0,0 f32[1,6,8,9] f32[2,3,4,3,3]
GroupNormalization 12 num_groups=2 epsilon=0.001 f32[2,4,5] f32[4] f32[4]
HardSigmoid 1 f32[2,3] f32[]=0.2 f32[]=0.5
Identity 16 f32[2,3]
Interpolate 4 shape_calculation_mode=sizes {_RESIZE} f32[1,2,4,5] i64[2]=8,9 f32[2]=2,2 i64[2]=2,3
Interpolate 11 shape_calculation_mode=scales {_RESIZE} f32[1,2,4,5] f32[2]=2,2 i64[2]=2,3
IsFinite 10 f32[2,3]
IsInf 10 detect_negative=true detect_positive=true f32[2,3]
IsNaN 10 f32[2,3]
LRN 1 alpha=0.1 beta=0.75 bias=1.0 size=3 f32[1,3,4,5] i64[1]=1
LSTMCell 4 {_CELL.format("sigmoid,tanh,tanh")} f32[2,3] f32[2,4] f32[2,4] f32[16,3] f32[16,4] f32[16] 2
LSTMSequence 5 {_CELL.format("sigmoid,tanh,tanh")} direction=bidirectional f32[2,5,3] f32[2,2,4] f32[2,2,4] i64[2] f32[2,16,3] \
f32[2,16,4] f32[2,16] 3
LogSoftmax 5 axis=1 f32[2,3]
LogicalNot 1 boolean[2,3]
MVN 6 normalize_variance=true eps=0.001 eps_mode=inside_sqrt f32[2,3,4] i64[2]=1,2
MatMul 1 transpose_a=false transpose_b=true f32[2,3,4] f32[5,4]
MaxPool 8 {_POOL} dilations=1,1 index_element_type=i64 axis=2 f32[1,3,8,9] 2
NonZero 3 output_type=i64 f32[2,3]
NormalizeL2 1 eps=0.001 eps_mode=add f32[2,3] i64[1]=1
OneHot 1 axis=-1 i64[2,3] i64[]=5 f32[] f32[]
PReLU 1 f32[2,3,4] f32[3]
Pad 12 pad_mode=constant f32[2,3] i64[2]=1,0 i64[2]=0,2 f32[]
Pad 12 pad_mode=reflect f32[2,3] i64[2]=1,0 i64[2]=0,2
Pad 12 pad_mode=symmetric f32[2,3] i64[2]=1,0 i64[2]=0,3
RNNCell 1 {_CELL.format("tanh")} f32[2,3] f32[2,4] f32[4,3] f32[4,4] f32[4]
RNNSequence 5 {_CELL.format("tanh")} direction=reverse f32[2,5,3] f32[2,1,4] i64[2] f32[1,4,3] f32[1,4,4] f32[1,4] 2
RandomUniform 8 output_type=f32 op_seed=1 global_seed=2 alignment=tensorflow i64[2]=2,3 f32[]=0 f32[]=1
Range 4 output_type=i64 i64[]=0 i64[]=10 i64[]=2
Reshape 1 special_zero=true f32[2,3,4] i64[2]=0,-1
Reshape 1 special_zero=false f32[2,3,4] i64[2]=6,4
ReverseSequence 1 batch_axis=0 seq_axis=1 f32[2,3,4] i64[2]
Reverse 1 mode=index f32[2,3] i64[1]=1
Reverse 1 mode=mask f32[2,3] boolean[2]=1,0
Roll 7 f32[2,3] i64[2]=1,2 i64[2]=0,1
Round 5 mode=half_to_even f32[2,3]
Select 1 {_NUMPY} boolean[2,1] f32[2,3] f32[3]
Selu 1 f32[2,3] f32[1]=1.5 f32[1]=1
ShapeOf 3 output_type=i64 f32[2,3]
ShuffleChannels 1 axis=1 group=2 f32[1,4,5,6]
Slice 8 f32[6,7] i64[2]=1,0 i64[2]=5,7 i64[2]=2,1 i64[2]=0,1
SoftMax 1 axis=1 f32[2,3]
SoftMax 8 axis=-1 f32[2,3]
SpaceToBatch 2 f32[1,3,4,5] i64[4]=1,2,2,1 i64[4]=0,1,0,0 i64[4]=0,0,2,0
SpaceToDepth 1 mode=blocks_first block_size=2 f32[1,3,4,6]
Split 1 num_splits=3 f32[2,6] i64[]=1 3
Squeeze 1 f32[2,1,3] i64[1]=1
StridedSlice 1 begin_mask=0,0 end_mask=0,1 new_axis_mask=0,0 shrink_axis_mask=0,0 ellipsis_mask=0,0 f32[6,7] i64[2]=1,0 \
i64[2]=5,7 i64[2]=2,1
Swish 4 f32[2,3] f32[]
Tile 1 f32[2,3] i64[2]=2,1
TopK 11 axis=1 mode=max sort=value index_element_type=i64 stable=false f32[2,5] i64[]=3 2
Transpose 1 f32[2,3,4] i64[3]=0,2,1
Unique 10 sorted=true index_element_type=i64 count_element_type=i64 f32[2,3] i64[]=1 4
Unsqueeze 1 f32[2,3] i64[2]=0,3
VariadicSplit 1 f32[2,6] i64[]=1 i64[3]=1,2,-1 3
{"".join(f"{name} 13 {_NUMPY} i32[2,3] i32[3]" + chr(10) for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"))}\
{"".join(f"{name} 1 {_NUMPY} boolean[2,3] boolean[3]" + chr(10) for name in ("LogicalAnd", "LogicalOr", "LogicalXor"))}\
{"".join(f"{name} 1 {_NUMPY} f32[2,3] f32[3]" + chr(10) for name in _BINARY.split())}\
{"".join(f"{name} 1 {_NUMPY} f32[2,1] f32[3]" + chr(10) for name in _COMPARISONS.split())}\
{"".join(f"{name} 4 keep_dims=true f32[2,3,4] i64[2]=0,2" + chr(10) for name in _REDUCTIONS.split())}\
{"".join(f"{name} 1 keep_dims=false boolean[2,3] i64[1]=1" + chr(10) for name in ("ReduceLogicalAnd", "ReduceLogicalOr"))}\
{"".join(f"{name} 9 f32[2,3]" + chr(10) for name in _UNARY.split())}"""

_DETECTIONS = (
    "background_label_id=0 top_k=4 variance_encoded_in_target={} keep_top_k=5 code_type=caffe.PriorBoxParameter.{} "
    "share_location={} nms_threshold=0.5 confidence_threshold=0.3 clip_after_nms=false clip_before_nms=false "
    "decrease_label_id=false normalized={} input_height=10 input_width=20 objectness_score=0.1"
)
_PRIORS = (
    "min_size=16.0 max_size=38.0 aspect_ratio=2.0 density= fixed_ratio= fixed_size= clip=false flip=true step=16.0 offset=0.5 "
    "variance=0.1,0.1,0.2,0.2 scale_all_sizes=true"
)
_PROPOSALS = (
    "base_size=16 pre_nms_topn=20 post_nms_topn=5 nms_thresh=0.7 feat_stride=16 min_size=16 ratio=0.5,2.0 scale=2.0,4.0 "
    "clip_before_nms=true clip_after_nms=false normalize=false box_size_scale=1.0 box_coordinate_scale=1.0 framework="
)
_NMS = (
    "sort_result_type=score output_type=i64 nms_top_k=4 keep_top_k=5 sort_result_across_batch=false normalized=true "
    "score_threshold={} background_class={}"
)
_SUPPRESSION = "box_encoding=corner sort_result_descending=true"
_BOXES = "f32[2,6,4] f32[2,3,6]"
_LIMITS = "i64[]=3 f32[]=0.5 f32[]=0.1"
_IMAGES = f"""\
AdaptiveAvgPool 8 f32[1,3,8,9] i64[2]=2,3
AdaptiveMaxPool 8 index_element_type=i32 f32[1,3,8,9] i64[2]=2,3 2
BinaryConvolution 1 {_WINDOWS} mode=xnor-popcount pad_value=0.0 f32[1,8,8,9] u1[4,8,3,3]
Col2Im 15 strides=1,1 dilations=1,1 pads_begin=0,1 pads_end=0,1 f32[1,12,15] i64[2]=4,4 i64[2]=2,2
Col2Im 15 strides=2,1 dilations=1,2 pads_begin=1,0 pads_end=0,0 f32[12,4] i64[2]=4,4 i64[2]=2,2
DeformableConvolution 1 {_WINDOWS} group=2 deformable_group=1 f32[1,4,8,9] f32[1,18,6,5] f32[6,2,3,3]
DeformableConvolution 8 bilinear_interpolation_pad=false {_WINDOWS} group=1 deformable_group=2 f32[1,4,8,9] f32[1,36,6,5] \
f32[6,4,3,3] f32[1,18,6,5]
DeformablePSROIPooling 1 output_dim=2 spatial_scale=0.5 group_size=3 mode=bilinear_deformable spatial_bins_x=4 \
spatial_bins_y=4 trans_std=0.1 part_size=3 f32[1,18,8,9] f32[2,5] f32[2,2,3,3]
DetectionOutput 1 num_classes=3 {_DETECTIONS.format("true", "CORNER", "true", "true")} f32[2,20] f32[2,15] f32[2,1,20]
DetectionOutput 8 {_DETECTIONS.format("false", "CENTER_SIZE", "false", "false")} f32[2,60] f32[2,15] f32[1,2,25] f32[2,10] \
f32[2,60]
DetectionOutput 8 {_DETECTIONS.format("false", "CORNER", "true", "true").replace("keep_top_k=5", "keep_top_k=-1")} f32[2,20] \
f32[2,15] f32[2,2,20]
ExperimentalDetectronDetectionOutput 6 score_threshold=0.05 nms_threshold=0.5 max_delta_log_wh=4.1 num_classes=3 \
post_nms_count=20 max_detections_per_image=5 class_agnostic_box_regression=false deltas_weights=10.0,10.0,5.0,5.0 f32[10,4] \
f32[10,12] f32[10,3] f32[1,3] 3
ExperimentalDetectronGenerateProposalsSingleImage 6 min_size=1.0 nms_threshold=0.7 post_nms_count=5 pre_nms_count=20 f32[3] \
f32[24,4] f32[12,2,4] f32[3,2,4] 2
ExperimentalDetectronPriorGridGenerator 6 flatten=true h=0 w=0 stride_x=4.0 stride_y=4.0 f32[3,4] f32[1,16,4,5] f32[1,3,40,50]
ExperimentalDetectronROIFeatureExtractor 6 output_size=7 sampling_ratio=2 pyramid_scales=4,8 aligned=false f32[10,4] \
f32[1,16,8,8] f32[1,16,4,4] 2
ExperimentalDetectronTopKROIs 6 max_rois=5 f32[10,4] f32[10]
ExtractImagePatches 3 sizes=3,4 strides=2,3 rates=1,2 auto_pad=valid f32[2,3,10,11]
ExtractImagePatches 3 sizes=3,4 strides=2,3 rates=1,2 auto_pad=same_upper f32[2,3,10,11]
GRN 1 bias=0.1 f32[1,3,4,5]
GenerateProposals 9 min_size=1.0 nms_threshold=0.7 post_nms_count=5 pre_nms_count=20 normalized=true nms_eta=1.0 \
roi_num_type=i64 f32[2,3] f32[2,4,3,4] f32[2,12,2,4] f32[2,3,2,4] 3
GridSample 9 align_corners=false mode=bilinear padding_mode=zeros f32[2,3,4,5] f32[2,6,7,2]
I420toBGR 8 u8[1,6,6,1]
I420toRGB 8 u8[1,4,6,1] u8[1,2,3,1] u8[1,2,3,1]
MatrixNms 8 {_NMS.format("-1.0", -1)} decay_function=linear gaussian_sigma=2.0 post_threshold=-1.0 {_BOXES} 3
MulticlassNms 8 {_NMS.format("0.1", -1)} iou_threshold=0.5 nms_eta=1.0 {_BOXES} 3
MulticlassNms 9 {_NMS.format("0.1", 0)} iou_threshold=0.5 nms_eta=1.0 f32[3,6,4] f32[3,6] i64[2] 3
NMSRotated 13 sort_result_descending=true output_type=i64 clockwise=true f32[2,6,5] f32[2,3,6] {_LIMITS} 3
NV12toBGR 8 u8[1,6,6,1]
NV12toRGB 8 u8[1,4,6,1] u8[1,2,3,2]
NonMaxSuppression 1 {_SUPPRESSION} {_BOXES} {_LIMITS}
NonMaxSuppression 3 {_SUPPRESSION} output_type=i64 {_BOXES} {_LIMITS}
NonMaxSuppression 4 {_SUPPRESSION} output_type=i32 {_BOXES} {_LIMITS}
NonMaxSuppression 5 {_SUPPRESSION} output_type=i64 {_BOXES} {_LIMITS} f32[]=0 3
NonMaxSuppression 9 {_SUPPRESSION} output_type=i64 {_BOXES} {_LIMITS} f32[]=0 3
PSROIPooling 1 output_dim=2 group_size=3 spatial_scale=0.5 mode=average spatial_bins_x=1 spatial_bins_y=1 f32[1,18,8,9] \
f32[2,5]
PSROIPooling 1 output_dim=2 group_size=3 spatial_scale=0.5 mode=bilinear spatial_bins_x=2 spatial_bins_y=4 f32[1,16,8,9] \
f32[2,5]
PriorBox 1 {_PRIORS} i64[2]=3,4 i64[2]=30,40
PriorBox 8 {_PRIORS} min_max_aspect_ratios_order=true i64[2]=3,4 i64[2]=30,40
PriorBox 8 min_size= max_size= aspect_ratio=2.0,3.0 density=2.0 fixed_ratio=1.0 fixed_size=8.0 clip=true flip=false step=0.0 \
offset=0.5 variance=0.1 scale_all_sizes=false min_max_aspect_ratios_order=false i64[2]=3,4 i64[2]=30,40
PriorBoxClustered 1 step=16.0 width=86.0,13.0 height=44.0,10.0 clip=false offset=0.5 variance=0.1,0.1,0.2,0.2 i64[2]=3,4 \
i64[2]=30,40
Proposal 1 {_PROPOSALS} f32[2,8,3,4] f32[2,16,3,4] f32[3]=100,200,1
Proposal 4 {_PROPOSALS} f32[2,8,3,4] f32[2,16,3,4] f32[3]=100,200,1 2
ROIAlign 3 pooled_h=5 pooled_w=6 sampling_ratio=2 spatial_scale=0.5 mode=avg f32[2,3,8,9] f32[4,4] i64[4]
ROIAlign 9 pooled_h=5 pooled_w=6 sampling_ratio=2 spatial_scale=0.5 mode=max aligned_mode=half_pixel f32[2,3,8,9] f32[4,4] \
i64[4]
ROIAlignRotated 15 pooled_h=5 pooled_w=6 sampling_ratio=2 spatial_scale=0.5 clockwise_mode=true f32[2,3,8,9] f32[4,5] i64[4]
ROIPooling 1 pooled_h=5 pooled_w=6 spatial_scale=0.5 method=max f32[2,3,8,9] f32[4,5]
RegionYolo 1 anchors=1.0,2.0,3.0,4.0,5.0,6.0 axis=1 coords=4 classes=5 end_axis=3 num=3 do_softmax=false mask=0,1,2 \
f32[1,30,4,5]
RegionYolo 1 anchors=1.0,2.0,3.0,4.0,5.0,6.0 axis=1 coords=4 classes=5 end_axis=3 num=3 do_softmax=true mask= f32[1,30,4,5]
ReorgYolo 1 stride=2 f32[1,8,4,6]
{"".join(f"{name} 17 single_plane=true u8[1,4,6,3]" + chr(10) for name in ("BGRtoNV12", "RGBtoNV12"))}\
{"".join(f"{name} 17 single_plane=false u8[1,4,6,3] 2" + chr(10) for name in ("BGRtoNV12", "RGBtoNV12"))}"""


@dataclass(frozen=True)
class Given:
    """An input: its type and shape, and the elements if it is a constant."""

    kind: str
    shape: tuple[int, ...]
    elements: tuple[float, ...] | None = None

    def __str__(self) -> str:
        elements = "" if self.elements is None else f"={','.join(format(one, 'g') for one in self.elements)}"
        return f"{self.kind}[{','.join(map(str, self.shape))}]{elements}"


@dataclass(frozen=True)
class Sample:
    """A call of an operator."""

    type: str
    opset: int
    attributes: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Given, ...] = ()
    outputs: int = 1

    def __str__(self) -> str:
        attributes = (f"{name}={value}" for name, value in self.attributes.items())
        return " ".join((f"{self.type}-{self.opset}", *attributes, *map(str, self.inputs)))


def samples() -> Iterator[Sample]:
    """Yield the valid calls."""
    for row in (_ROWS + _IMAGES).strip().splitlines():
        name, opset, *words = row.split()
        count = int(words.pop()) if words[-1].isdecimal() else 1
        attributes = dict(word.split("=", 1) for word in words if "[" not in word)
        yield Sample(name, int(opset), attributes, tuple(map(_given, (word for word in words if "[" in word))), count)


def _given(word: str) -> Given:
    described, _, elements = word.partition("=")
    kind, _, dims = described.rstrip("]").partition("[")
    shape = tuple(int(dim) for dim in dims.split(",") if dim)
    return Given(kind, shape, tuple(float(one) for one in elements.split(",")) if elements else None)

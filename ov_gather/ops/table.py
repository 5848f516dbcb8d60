"""The operators of ONNX and OpenVINO: one row an operator, with everything that analyses and rewrites ask of it.

Nobody else lists operators by what they do. An analysis derives its own set, once, with a predicate:
`VIEWS = where(OPENVINO, lambda op: op.meaning.selection is Selection.IN_ORDER)`. Analyses differ on purpose in what they want.
Rows cover neither bounds of indices, which the gather family and `ov_gather.ops.index_table` have, nor conditions of a fault,
which `ov_gather.plugin` has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import Enum, auto


class OpKind(Enum):
    """What an operator does; the headings of the table."""

    ARITHMETIC = "arithmetic of each element, of integers too"
    FUNCTION = "a function of each element, which must be a fraction"
    BITWISE = "logic on the bits of each element"
    LOGICAL = "logic on each element"
    COMPARISON = "comparison of elements"
    SELECTION = "at each place, the element of one operand or the other"
    CAST = "conversion of each element to a type that an attribute names"
    MOVE = "movement of elements, whatever they are"
    GATHER = "reading at indices"
    SCATTER = "writing at indices"
    REDUCTION = "many elements to one, along axes"
    PRODUCT = "sums of products"
    RESAMPLING = "windows and samples of an image"
    NORMALIZATION = "elements in relation to the others along axes"
    QUANTIZATION = "rounding to few levels"
    ORDER = "the greatest or least, and where they are"
    SEARCH = "positions that elements determine"
    SERIES = "elements that their positions determine"
    CONSTANT = "what the node itself holds"
    SHAPE = "the sizes of the operand, whatever its elements are"
    RANDOM = "random numbers"
    BODY = "other graphs, repeated or chosen"
    STATE = "variables, from one inference to the next"
    END = "an input or an output of a graph"
    SEQUENCE = "sequences of tensors, and moves that OpenVINO composes of others"


_BY_ELEMENT = (
    *(OpKind.ARITHMETIC, OpKind.FUNCTION, OpKind.BITWISE, OpKind.LOGICAL, OpKind.COMPARISON),
    *(OpKind.SELECTION, OpKind.CAST),
)


class Selection(Enum):
    """Which elements of its sources an operator outputs, and in which order."""

    IN_ORDER = "each element once, in the same row-major order"
    REORDERED = "each element once"
    REPEATED = "each element, as often as the sizes of the output say"
    IN_PART = "some elements, maybe several times; positions tell which"
    CHOSEN = "at each place an element of one of the sources; positions or a condition tell which source"
    BY_VALUE = "elements that their own values single out, as the greatest"
    COMPUTED = "no elements of an input, but others, computed from them"


class Along(Enum):
    """What the indices of an operator address."""

    AXIS = "one axis of the first input, which the attribute or the input `axis` names"
    COORDINATES = "the leading axes of the first input, after the batch dimensions; one tuple of coordinates for each slice"
    CLASSES = "the classes of a one-hot vector, whose number is the input `depth`"


@dataclass(frozen=True, slots=True)
class Indices:
    """The position of the input that holds indices, and what they address."""

    position: int
    along: Along


@dataclass(frozen=True, slots=True)
class Meaning:
    """The elements that every output of an operator consists of.

    Attributes:
        sources: positions of the inputs whose elements are output. Empty if the node itself, or the shape of an input,
            determines the output.
        selection: which elements of the sources are output.
        adds: whether other elements may be output: a default fill value, or bounds from attributes.
        converts: whether the element type may change.
        reduces: whether the operator computes, unless its attribute `reduction` is "none".
        splits: whether all outputs together consist of each element of the source once.
        indices: the input that holds indices.
    """

    sources: Collection[int] = ()
    selection: Selection = Selection.COMPUTED
    adds: bool = False
    converts: bool = False
    reduces: bool = False
    splits: bool = False
    indices: Indices | None = None

    @property
    def rearranges(self) -> bool:
        """True if the operator moves elements regardless of their values and at most converts them."""
        return bool(self.sources) and self.selection not in (Selection.CHOSEN, Selection.BY_VALUE)

    @property
    def keeps_order(self) -> bool:
        """True if the output consists of the elements of the first input as they are, maybe in another shape."""
        return self.sources == (0,) and self.selection is Selection.IN_ORDER and not self.converts

    @property
    def keeps_each(self) -> bool:
        """True if the output consists of each element of the first input exactly once, of the same type."""
        return self.sources == (0,) and self.selection in (Selection.IN_ORDER, Selection.REORDERED) and not self.converts

    @property
    def computes(self) -> bool:
        """True if the operator depends on the values of its sources, or may combine them."""
        return self.reduces or self.selection in (Selection.BY_VALUE, Selection.COMPUTED)


_FIRST = Meaning((0,), Selection.IN_ORDER)
_EVERY_INPUT = range(2**31)
_AT_INDEX = Meaning((0,), Selection.IN_PART, indices=Indices(1, Along.AXIS))
_TO_INDEX = Meaning((0, 2), Selection.CHOSEN, indices=Indices(1, Along.AXIS))
_TO_TUPLE = replace(_TO_INDEX, reduces=True, indices=Indices(1, Along.COORDINATES))
_ONE_HOT = Meaning((2,), Selection.CHOSEN, indices=Indices(0, Along.CLASSES))

_MEANINGS = {
    ".": Meaning(),
    "stated": Meaning((), Selection.IN_ORDER),
    "in_order": _FIRST,
    "converted": replace(_FIRST, converts=True),
    "reordered": Meaning((0,), Selection.REORDERED),
    "joined": Meaning(_EVERY_INPUT, Selection.REORDERED),
    "repeated": Meaning((0,), Selection.REPEATED),
    "in_part": Meaning((0,), Selection.IN_PART),
    "in_parts": Meaning((0,), Selection.IN_PART, splits=True),
    "at_index": _AT_INDEX,
    "at_tuple": replace(_AT_INDEX, indices=Indices(1, Along.COORDINATES)),
    "to_index": _TO_INDEX,
    "to_index+": replace(_TO_INDEX, reduces=True),
    "to_tuple+": _TO_TUPLE,
    "by_mask": Meaning((1, 2), Selection.CHOSEN),
    "pad_2": Meaning((0, 2), Selection.CHOSEN, adds=True),
    "pad_3": Meaning((0, 3), Selection.CHOSEN, adds=True),
    "marks_2": _ONE_HOT,
    "marks_23": replace(_ONE_HOT, sources=(2, 3)),
    "extreme": Meaning(_EVERY_INPUT, Selection.BY_VALUE),  # the bounds of Clip are inputs, like the operands of Max
    "clamped": Meaning((0,), Selection.BY_VALUE, adds=True),
}
"""The meanings by the words of the table. A number is the position of the inputs with values to pad or to mark classes with."""


class Trait(Enum):
    """What OpenVINO does to an operator, by its front end, its transformations and its CPU plugin; and what ONNX's tools do."""

    EXACT = auto()
    """The CPU plugin computes it in i32 if its operands are i32 or i64: by kernels for integers, or by moves."""
    IN_F32 = auto()
    """The CPU plugin computes integers in f32, which rounds those beyond 2^24."""
    SCALES = auto()
    """The CPU plugin fuses it with a Reduce of integers before it, if the other operand is constant."""
    FUSES = auto()
    """The CPU plugin computes it in f32 together with the integer arithmetic that follows; so it does all reductions."""
    ANEW = auto()
    """Its integers are not fused with what computes its operands."""
    PASSED = auto()
    """OpenVINO may move the arithmetic of each element above it, together with a Gather before it; and drop it."""
    LIFTED = auto()
    """OpenVINO may move it above a Gather, if other operands are constant."""
    REMOVED = auto()
    """OpenVINO drops it if it changes nothing. So it does what is PASSED."""
    VIEW = auto()
    """OpenVINO may return the input of this ONNX operator instead of a copy."""
    REAL = auto()
    """OpenVINO moves no dequantization past it."""
    MOD32 = auto()
    """Its results modulo 2^32 are the same for signed and unsigned operands."""
    I16 = auto()
    """The CPU plugin computes i16 and u16 as i32, so that results beyond do not wrap around."""
    I8 = auto()
    """The CPU plugin computes i8 and u8 in floating point: it rounds quotients, and saturates."""
    QUIETS = auto()
    """The CPU plugin makes signalling NaNs quiet, though the operator only moves elements."""
    STRINGS = auto()
    """The CPU plugin reads or moves strings as strings, and not as bytes."""
    RAISES = auto()
    """The CPU plugin raises for every index out of bounds of an axis that is not empty."""
    FATAL = auto()
    """Crashes if the first input is a constant without elements."""
    SINK = auto()
    """OpenVINO's reader starts from it, and keeps what it depends on."""
    UNFOLDED = auto()
    """OpenVINO executes it even if all operands are constants."""
    ORACLE = auto()
    """Every release of ONNX's reference evaluator computes it correctly."""
    VALUES = auto()
    """ONNX's shape inference propagates values of shapes through it."""
    UNROUNDED = auto()
    """It computes, and rounds nothing: results are operands, up to the sign, or whole numbers."""
    SETTINGS = auto()
    """The inputs after the first are settings: axes, sizes, a region. The front end reads empty ones correctly."""


_UNBOUNDED = ("", "any_value", "fraction", "shape_only", "truth", "unit")


@dataclass(frozen=True, slots=True)
class Op:
    """A row of the table. A name without a row stands for an unknown operator.

    Attributes:
        kind: what it does; None if nothing is known.
        symbol: the sign of the operator in formulas, such as "+" or "<="; empty for most.
        meaning: which elements the outputs consist of.
        rule: the name of its transfer function (see `ov_gather.ranges.rules.common`); empty if it has none.
        traits: what OpenVINO does to it.
    """

    kind: OpKind | None = None
    symbol: str = ""
    meaning: Meaning = _MEANINGS["."]
    rule: str = ""
    traits: frozenset[Trait] = frozenset()

    @property
    def by_element(self) -> bool:
        """True if each element of the output depends on the elements of all inputs at the same position."""
        return self.kind in _BY_ELEMENT

    @property
    def takes_part(self) -> bool:
        """True if each output is a part of the first input, at positions that are no indices."""
        return self.kind is OpKind.MOVE and self.meaning.selection is Selection.IN_PART

    @property
    def has_bounds(self) -> bool:
        """True if the transfer function bounds the elements of the output by those of the inputs."""
        return self.rule not in _UNBOUNDED

    @property
    def along(self) -> Along | None:
        """What the indices address; None if the operator has none."""
        return None if self.meaning.indices is None else self.meaning.indices.along

    def carries(self, position: int) -> bool:
        """Return True if elements of the input at this position reach the output, unlike shapes, axes, indices, conditions."""
        return position in self.meaning.sources


UNKNOWN = Op()


class Operators(dict[str, Op]):
    """The operators of one vocabulary, by name. An unknown name stands for UNKNOWN."""

    def __missing__(self, name: str) -> Op:
        return UNKNOWN


def where(operators: Operators, is_wanted: Callable[[Op], bool]) -> frozenset[str]:
    """Return the names of the operators that the predicate accepts."""
    return frozenset(name for name, op in operators.items() if is_wanted(op))


# Columns: the name in ONNX's default domain; the types of OpenVINO and ours, as an IR and as `openvino.Node` names them; the
# symbol; the meaning; the transfer function; traits. A dot is nothing. A row covers all versions of an operator; if they
# differ, it is their union. Operators whose inputs or attributes differ too much for that have a row for each vocabulary.
_TABLE = """
arithmetic:
 Abs                   Abs                       .   .         absolute         exact lifted i16 i8 unrounded
 Add                   Add                       +   .         add              exact scales removed lifted mod32 i16 i8 values
 Ceil                  Ceiling                   .   .         round_up         lifted values unrounded
 .                     Clamp                     .   clamped   clamp            exact lifted unrounded
 Clip                  .                         .   extreme   clip             in_f32
 Div                   Divide                    /   .         divide           scales removed lifted in_f32 i8
 Floor                 Floor                     .   .         round_down       lifted values unrounded
 .                     FloorMod                  %   .         floor_remainder  lifted
 Log                   Log                       .   .         logarithm        lifted
 Max                   Maximum                   max extreme   maximum          exact lifted unrounded
 Min                   Minimum                   min extreme   minimum          exact lifted unrounded
 Mod                   Mod                       %   .         remainder        lifted in_f32
 Mul                   Multiply                  *   .         multiply         exact scales removed lifted mod32 i16 i8 values
 Neg                   Negative                  .   .         negate           exact scales removed lifted i16 i8 unrounded
 Pow                   Power                     **  .         any_value        removed lifted in_f32 real
 PRelu                 PReLU,PRelu               .   .         shape_only       unfolded
 Relu                  ReLU,Relu                 .   .         at_least_zero    lifted unrounded
 Round                 Round                     .   .         nearest          lifted
 Sign                  Sign                      .   .         sign             lifted unrounded
 Sqrt                  Sqrt                      .   .         square_root      lifted real
 .                     SquaredDifference         .   .         any_value        lifted unfolded
 Sub                   Subtract                  -   .         subtract         exact scales removed lifted mod32 i16 i8 values
 Sum                   .                         .   .         .                mod32 i16

function:
 Acos                  Acos                      .   .         shape_only       lifted
 Acosh                 Acosh                     .   .         shape_only       lifted
 Asin                  Asin                      .   .         shape_only       lifted
 Asinh                 Asinh                     .   .         shape_only       lifted
 Atan                  Atan                      .   .         shape_only       lifted
 Atanh                 Atanh                     .   .         shape_only       lifted
 Celu                  .                         .   .         shape_only
 Cos                   Cos                       .   .         unit             lifted
 Cosh                  Cosh                      .   .         shape_only       lifted
 Elu                   Elu                       .   .         shape_only       lifted
 Erf                   Erf                       .   .         unit             lifted
 Exp                   Exp                       .   .         shape_only       lifted real
 Gelu                  Gelu                      .   .         shape_only       lifted real
 HardSigmoid           HardSigmoid               .   .         shape_only
 HardSwish             HSwish                    .   .         shape_only       lifted
 .                     HSigmoid                  .   .         shape_only       lifted
 LeakyRelu             .                         .   .         shape_only
 Mish                  Mish                      .   .         shape_only       lifted
 Reciprocal            .                         .   .         shape_only
 Selu                  Selu                      .   .         shape_only
 Sigmoid               Sigmoid                   .   .         fraction         lifted real
 Sin                   Sin                       .   .         unit             lifted
 Sinh                  Sinh                      .   .         shape_only       lifted
 Softplus              SoftPlus                  .   .         shape_only       lifted
 Softsign              SoftSign                  .   .         shape_only       lifted
 Swish                 Swish                     .   .         shape_only       real
 Tan                   Tan                       .   .         shape_only       lifted
 Tanh                  Tanh                      .   .         unit             lifted real
 ThresholdedRelu       .                         .   .         shape_only

bitwise:
 BitShift              .                         .   .         any_value        i16 i8
 BitwiseAnd            BitwiseAnd                &   .         conjunction      exact mod32 unfolded
 BitwiseNot            BitwiseNot                ~   .         shape_only       exact mod32 i16 unfolded
 BitwiseOr             BitwiseOr                 |   .         disjunction      exact mod32 unfolded
 BitwiseXor            BitwiseXor                ^   .         disjunction      exact mod32 unfolded

logical:
 And                   LogicalAnd                &   .         both
 .                     IsFinite                  .   .         truth            unfolded
 IsInf                 IsInf                     .   .         truth            unfolded
 IsNaN                 IsNaN                     .   .         truth            unfolded
 Not                   LogicalNot                ~   .         negation
 Or                    LogicalOr                 |   .         either
 Xor                   LogicalXor                ^   .         truth

comparison:
 Equal                 Equal                     ==  .         equal            in_f32
 Greater               Greater                   >   .         greater          in_f32
 GreaterOrEqual        GreaterEqual              >=  .         greater_or_equal in_f32
 Less                  Less                      <   .         less             in_f32
 LessOrEqual           LessEqual                 <=  .         less_or_equal    in_f32
 .                     NotEqual                  !=  .         unequal

selection:
 Where                 Select                    .   by_mask   select           exact removed

cast:
 Cast                  Convert                   .   converted cast             exact removed lifted view values

move:
 .                     BatchToSpace              .   .         .                removed
 CastLike              ConvertLike               .   converted cast             exact passed settings
 Compress              .                         .   in_part   elements_only    strings oracle
 Concat                Concat                    .   joined    concatenate      exact removed strings values oracle
 DepthToSpace          DepthToSpace              .   reordered elements_only    removed quiets
 Expand                Broadcast                 .   repeated  broadcast        exact removed view settings oracle
 Flatten               .                         .   in_order  flatten          view strings oracle
 Identity              Identity                  .   in_order  same_shape       removed view strings values oracle
 Pad                   .                         .   pad_2     pad              view settings oracle
 .                     Pad                       .   pad_3     pad              removed
 Reshape               Reshape                   .   in_order  reshape          exact passed view strings settings oracle
 .                     Reverse                   .   .         shape_only
 ReverseSequence       ReverseSequence           .   reordered rounded_elements removed mod32 in_f32 unfolded
 .                     Roll                      .   .         shape_only       removed unfolded
 .                     ShuffleChannels           .   .         shape_only       removed
 Slice                 Slice                     .   in_part   slice            exact passed view settings values oracle
 .                     SpaceToBatch              .   .         .                removed
 SpaceToDepth          SpaceToDepth              .   reordered elements_only    removed quiets
 Split                 Split                     .   in_parts  split            exact passed settings oracle
 Squeeze               Squeeze                   .   in_order  squeeze          exact passed view strings settings values oracle
 .                     StridedSlice              .   in_part   strided_slice    exact passed
 Tile                  Tile                      .   repeated  tile             exact removed view settings fatal oracle
 Transpose             Transpose                 .   reordered transpose        exact passed view strings oracle
 Unsqueeze             Unsqueeze                 .   in_order  unsqueeze        exact passed view strings settings values oracle
 .                     VariadicSplit             .   in_parts  variadic_split   exact passed

gather:
 Gather                Gather                    .   at_index  gather           exact removed strings values oracle
 GatherElements        GatherElements            .   at_index  gather_elements  exact raises strings unfolded
 GatherND              GatherND                  .   at_tuple  gather_nd        exact strings oracle unfolded

scatter:
 Scatter               .                         .   to_index  scatter          strings
 ScatterElements       ScatterElements           .   to_index+ scatter          strings oracle
 .                     ScatterElementsUpdate     .   to_index+ scatter          removed
 ScatterND             ScatterND                 .   to_tuple+ scatter          strings oracle
 .                     ScatterNDUpdate           .   to_tuple+ scatter          removed raises
 .                     ScatterUpdate             .   to_index  scatter          removed raises

reduction:
 ReduceL1              ReduceL1                  .   .         .                settings in_f32 oracle
 ReduceL2              ReduceL2                  .   .         .                settings unfolded
 .                     ReduceLogicalAnd          .   .         reduce_truth unrounded
 .                     ReduceLogicalOr           .   .         reduce_truth unrounded
 ReduceLogSum          .                         .   .         .                settings
 ReduceLogSumExp       .                         .   .         .                settings
 ReduceMax             ReduceMax                 max .         reduce_extreme   settings in_f32 oracle unrounded
 ReduceMean            ReduceMean                .   .         reduce_mean      settings in_f32
 ReduceMin             ReduceMin                 min .         reduce_extreme   settings in_f32 oracle unrounded
 ReduceProd            ReduceProd                .   .         reduce_product   settings in_f32 oracle
 ReduceSum             ReduceSum                 .   .         reduce_sum       settings in_f32 oracle
 ReduceSumSquare       .                         .   .         .                settings in_f32

product:
 .                     Convolution               .   .         convolution      fuses
 Einsum                Einsum                    .   .         einsum           fuses unfolded
 .                     GroupConvolution          .   .         group_product    fuses
 MatMul                MatMul                    .   .         matrix_product   fuses in_f32
 .                     ScaledDotProductAttention .   .         attention

resampling:
 .                     AvgPool                   .   .         pool
 .                     GridSample                .   .         sample
 .                     Interpolate               .   .         interpolate      fuses unfolded
 MaxPool               MaxPool                   .   .         pool
 Resize                .                         .   .         .                settings in_f32
 Upsample              .                         .   .         .                settings in_f32

normalization:
 BatchNormalization    BatchNormInference        .   .         shape_only
 Dropout               .                         .   .         shape_only       view
 .                     GRN                       .   .         shape_only
 GroupNormalization    GroupNormalization        .   .         shape_only
 InstanceNormalization .                         .   .         shape_only
 LayerNormalization    .                         .   .         shape_only       fatal
 LogSoftmax            LogSoftmax                .   .         shape_only       real
 .                     LRN                       .   .         shape_only
 .                     MVN                       .   .         shape_only
 .                     NormalizeL2               .   .         shape_only       unfolded
 .                     RMS                       .   .         shape_only
 Softmax               SoftMax,Softmax           .   .         fraction         real

quantization:
 .                     FakeQuantize              .   .         shape_only
 QuantizeLinear        .                         .   .         .

order:
 ArgMax                .                         .   .         arg_extreme      oracle
 ArgMin                .                         .   .         arg_extreme      oracle
 TopK                  TopK                      .   .         top_k            anew oracle

search:
 .                     Bucketize                 .   .         bucketize        anew unfolded unrounded
 NonMaxSuppression     NonMaxSuppression         .   .         boxes_kept       anew
 NonZero               NonZero                   .   .         non_zero         anew oracle unrounded
 .                     SearchSorted              .   .         search_sorted    anew unfolded unrounded
 Unique                Unique                    .   .         unique           anew fatal oracle unfolded

series:
 CumSum                CumSum                    .   .         running_total    anew oracle unfolded
 OneHot                .                         .   marks_2   one_hot          oracle
 .                     OneHot                    .   marks_23  one_hot          anew unrounded
 Range                 Range                     .   .         count_up         anew oracle
 Trilu                 .                         .   .         .                in_f32 quiets oracle

constant:
 Constant              Const,Constant            .   stated    .                strings
 ConstantOfShape       .                         .   stated    filled           oracle

shape:
 Shape                 ShapeOf                   .   stated    shape_of         anew strings
 Size                  .                         .   stated    size_of          strings

random:
 Bernoulli             .                         .   .         .
 Multinomial           Multinomial               .   .         .                anew
 RandomNormal          .                         .   .         .
 RandomNormalLike      .                         .   .         .
 RandomUniform         .                         .   .         .
 .                     RandomUniform             .   .         random_uniform   anew
 RandomUniformLike     .                         .   .         .

body:
 If                    If                        .   .         .
 Loop                  Loop                      .   .         .
 Scan                  .                         .   .         .
 .                     TensorIterator            .   .         .

state:
 .                     Assign                    .   .         same_shape       sink
 .                     ReadValue                 .   .         .

end:
 .                     Parameter                 .   .         .
 .                     Result                    .   .         same_shape       sink

sequence:
 CenterCropPad         .                         .   .         .                quiets
 ConcatFromSequence    .                         .   .         .                quiets
 SequenceAt            .                         .   .         .                quiets
 SequenceConstruct     .                         .   .         .                quiets
 SequenceInsert        .                         .   .         .                quiets
 SplitToSequence       .                         .   .         .                quiets
"""


def _read(table: str) -> tuple[Operators, Operators]:
    onnx, openvino = Operators(), Operators()
    kind = None
    for line in filter(None, table.splitlines()):
        if line.endswith(":"):
            kind = OpKind[line[:-1].upper()]
            continue
        name, types, symbol, meaning, rule, *traits = line.split()
        found = frozenset(Trait[trait.upper()] for trait in traits)
        op = Op(kind, symbol.strip("."), _MEANINGS[meaning], rule.strip("."), found)
        onnx |= {} if name == "." else {name: op}
        openvino |= {} if types == "." else dict.fromkeys(types.split(","), op)
    return onnx, openvino


ONNX, OPENVINO = _read(_TABLE)
"""The operators by their names in ONNX, and by their types in OpenVINO."""
EITHER = Operators({**ONNX, **OPENVINO})
"""For analyses of graphs of both. A name in both means the same; of two rows, OpenVINO's counts."""

ENDS = where(OPENVINO, lambda op: op.kind is OpKind.END) | {"Const"}
"""Layers of an IR that compute nothing."""
RANDOM = where(OPENVINO, lambda op: op.kind is OpKind.RANDOM)
"""Layers of an IR whose outputs are random."""

"""What the analysis says of operations that read or write by indices, or make indices: worked out by hand, row by row."""

import pytest

from helpers.rule_calls import by_onnx, by_openvino, node_of
from ov_gather.ranges.rules import onnx
from ov_gather.ranges.rules.openvino import counts_from_end, rule_of

GATHERS = [
    # of slices: indices count from both ends; the plugin gives zeros for others, if data has more than one axis
    ("Gather opset8", "f32[5, 7] -3..-2; i64[3] -6..4; 0", "f32[...]", "f32[3, 7] -3..0"),
    ("Gather opset7", "i64[5, 7] 2..3; i64[3] -1..4; 0", "i64[...]", "i64[3, 7] 0..3"),
    ("Gather opset1", "i64[5, 7] 2..3; i64[3] -1..4; 0", "i64[...]", "i64[3, 7] 0..3"),
    # of vectors it reads whatever lies in memory, and of an axis that may be empty
    ("Gather opset8", "i64[n, 3] 2..3; i64[2] 0..; 0", "i64[...]", "i64[2, 3]"),
    ("Gather opset8", "i64[m, 3] 2..3; i64[2] 0..1; 0", "i64[...]", "i64[2, 3] 0..3"),
    # the shape
    ("Gather opset8", "i64[4, 5] 1..2; i64[3] 0..4; -1", "i64[...]", "i64[4, 3] 1..2"),
    ("Gather opset8", "i64[4, 5] 1..2; i64[3] 0..3; -2", "i64[...]", "i64[3, 5] 1..2"),
    ("Gather opset8", "i64[4, 5] 1..2; i64[3] 0..; 2", "i64[d]", "i64[d]"),
    ("Gather ov_gather", "i64[4, 5] 1..2; i64[3] -4..3; 0", "i64[...]", "i64[3, 5] 1..2"),
    # bounds by slices stay, along another axis or for indices that are known
    ("Gather opset8", "i64[4, 2] 1..9 by 1: 1.. | 9..; i64[3, 6] 0..3; 0", "i64[...]", "i64[3, 6, 2] 1..9 by 2: 1.. | 9.."),
    ("Gather opset8", "i64[2, 4] 1..9 by 0: 1.. | 9..; i64[3, 6] 0..3; 1", "i64[...]", "i64[2, 3, 6] 1..9 by 0: 1.. | 9.."),
    (
        "Gather opset8 batch_dims=1",
        "i64[3, 4, 2] 1..9 by 2: 1.. | 9..; i64[3, 5] 0..3; 1",
        "i64[...]",
        "i64[3, 5, 2] 1..9 by 2: 1.. | 9..",
    ),
    ("Gather opset8 batch_dims=1", "i64[2, 3] 1..9 by 1: 1.. | 5.. | 9..; (0, 2); 1", "i64[...]", "i64[2] 1..9"),
    # the plugin reads unrelated memory if all batch dimensions are 1
    ("Gather opset8 batch_dims=1", "f32[1, 4] 5..8; i64[1, 5] 0..3; 1", "f32[1, 5]", "f32[1, 5] or NaN"),
    ("Gather opset8 batch_dims=2", "f32[1, 2, 4] 5..8; i64[1, 2, 5] 0..3; 2", "f32[...]", "f32[1, 2, 5] 5..8"),
    ("Gather ov_gather batch_dims=1", "f32[1, 4] 5..8; i64[1, 5] 0..3; 1", "f32[...]", "f32[1, 5] 5..8"),
    ("Gather opset8", "i64[3] 1..9 by 0: 1.. | 5.. | 9..; (2, 0, -3); 0", "i64[...]", "i64[3] 1..9 by 0: 9.. | 1.. | 1.."),
    ("Gather opset8", "i64[3] 1..9 by 0: 1.. | 5.. | 9..; (-2); 0", "i64[...]", "i64[1] 5.."),
    ("Gather opset8", "i64[3] 1..9 by 0: 1.. | 5.. | 9..; i64[2] 0..2; 0", "i64[...]", "i64[2] 1..9"),
    ("Gather opset8", "i64[3] 1..9 by 0: 1.. | 5.. | 9..; (3); 0", "i64[...]", "i64[1]"),
    # NaN is read, too; that one element is not below a number does not stay
    ("Gather opset8", "i64[4] 0..1 peak 1; i64[2] 0..3; 0", "i64[...]", "i64[2] 0..1"),
    # elements, and tuples of coordinates
    ("GatherElements opset6 axis=1", "i64[4, 5] 1..2; i64[4, 3] -5..4", "i64[...]", "i64[4, 3] 1..2"),
    ("GatherElements opset6 axis=1", "i64[4, 5] 1..2; i64[4, 3] 0..5", "i64[...]", "i64[4, 3]"),
    ("GatherElements opset6 axis=-1", "i64[4, 5] 1..2; i64[4, 3] -6..4", "i64[...]", "i64[4, 3]"),
    ("GatherElements opset6 axis=-2", "i64[4, 5] 1..2; i64[4, 3] 0..3", "i64[...]", "i64[4, 3] 1..2"),
    ("GatherElements opset6 axis=2", "i64[4, 5] 1..2; i64[4, 3] 0..", "i64[...]", "i64[4, 3]"),
    ("GatherElements opset6 axis=-3", "i64[4, 5] 1..2; i64[4, 3] 0..", "i64[...]", "i64[4, 3]"),
    ("GatherElements ov_gather axis=0 broadcast=true", "f32[m, 3] 1..2; i64[d, 1] 0..", "f32[d, 3]", "f32[d, 3] 1..2"),
    ("GatherElements ov_gather axis=0 transpose=1", "f32[m, 3] 1..2; i64[d, 1] 0..", "f32[d, 3]", "f32[d, 3] 1..2"),
    ("GatherND opset8", "i64[4, 5] 1..2; i64[3, 2] 0..4", "i64[3]", "i64[3]"),
    ("GatherND opset8 batch_dims=1", "i64[3, 4] 1..2; i64[3, 1] 0..3", "i64[3]", "i64[3] 1..2"),
    ("GatherND opset8", "i64[3, 4] 1..2; i64[3, 1] 0..3", "i64[3, 4]", "i64[3, 4]"),
    ("GatherND opset8 batch_dims=2", "i64[4, 5, 3] 1..2; i64[4, 5, 1] 0..2", "i64[d, d]", "i64[4, 5] 1..2"),
    ("GatherND opset5 batch_dims=2", "i64[4, 5, 3] 1..2; i64[4, 5, 1] 0..2", "i64[d]", "i64[d] 1..2"),
    ("GatherND opset8", "i64[4] 1..2; i64[3, 2] 0..1", "i64[3]", "i64[3]"),
    ("GatherND opset8", "i64[4] 1..2; i64[3, n] 0..1", "i64[3]", "i64[3]"),
    ("GatherND opset8", "i64[4, 5] 1..2; i64[] 0..1", "i64[3]", "i64[3]"),
]
SCATTERS = [
    ("ScatterElementsUpdate opset12 reduction=min", "i64[4] 1..2; i64[1] 0..; i64[1] 5..6; 0", "i64[...]", "i64[4] 1..6"),
    ("ScatterElementsUpdate opset12 reduction=MAX", "i64[4] 1..2; i64[1] 0..; i64[1] 5..6; 0", "i64[...]", "i64[4] 1..6"),
    ("ScatterElementsUpdate opset12 reduction=sum", "i64[4] 1..2; i64[1] 0..; i64[1] 5..6; 0", "i64[...]", "i64[4]"),
    ("ScatterNDUpdate opset15", "i64[2] 1..9 by 0: 1.. | 9..; i64[1, 1] 0..; i64[1] 0..2", "i64[...]", "i64[2] 0..9"),
    ("ScatterUpdate opset3", "f32[4] 1..2; i64[1] 0..; f32[1] 5..6 or NaN; 0", "f32[...]", "f32[4] 1..6 or NaN"),
    ("ScatterUpdate opset3", "f32[4] 1..2 or NaN; i64[1] 0..; f32[1] 5..6; 0", "f32[...]", "f32[4] 1..6 or NaN"),
    # the mean of 7 updates and what was there is known as long as the sum of 8 numbers is exact in float32
    (
        "ScatterElementsUpdate opset12 reduction=mean",
        "i64[4] 0..1; i64[7]; i64[7] 0..2097152; 0",
        "i64[...]",
        "i64[4] 0..2097152",
    ),
    ("ScatterElementsUpdate opset12 reduction=mean", "i64[4] 0..1; i64[7]; i64[7] 0..2097153; 0", "i64[...]", "i64[4]"),
]
MADE = [
    ("TopK opset11 axis=1", "f32[4, 9] 1..2; 3", "f32[...]; i64[...]", "f32[4, 3] 1..2; i64[4, 3] 0..8"),
    ("TopK opset11", "f32[4, 9]; 10", "f32[d, d]; i64[d, d]", "f32[4, d] or NaN; i64[4, d]"),
    ("TopK opset11 axis=-2", "f32[4, 9]; 3", "f32[...]; i64[...]", "f32[3, 9]; i64[3, 9] 0..3"),
    ("TopK opset11 axis=0", "f32[4]; (1, 2)", "f32[d]; i64[d]", "f32[d]; i64[d] 0..3"),
    # of nothing, the plugin returns the outputs of the inference before
    ("Unique opset10", "i64[4, n]", "i64[d]; i64[d]; i64[d]; i64[d]", "i64[d]; i64[d]; i64[d]; i64[d]"),
    ("Unique opset10 sorted=true", "i64[n] 1..9", "i64[d]; i64[d]; i64[d]; i64[d]", "i64[d]; i64[d]; i64[d]; i64[d]"),
    (
        "Unique opset10 sorted=true",
        "i64[4, 2] 1..9",
        "i64[d]; i64[d]; i64[d]; i64[d]",
        "i64[d] 1..9; i64[d] 0..7; i64[8] 0..7 or d - 1; i64[d] 1..8",
    ),
    (
        "Unique opset10 sorted=true",
        "f32[4] 1..9 or NaN",
        "f32[d]; i64[d]; i64[d]; i64[d]",
        "f32[d] or NaN; i64[d]; i64[4]; i64[d]",
    ),
    # kept boxes: batch, class and box; outputs of a fixed size are padded with -1
    ("NonMaxSuppression opset9", "f32[2, 9, 4]; f32[2, 5, 9]", "i64[d, 3]", "i64[d, 3] 0..8 by 1: 0..1 | 0..4 | 0..8"),
    ("NonMaxSuppression opset9", "f32[2, 9, 4]; f32[2, 5, 9]", "i64[6, 3]", "i64[6, 3] -1..8 by 1: -1..1 | -1..4 | -1..8"),
    ("NonMaxSuppression opset5", "f32[2, 9, 4]; f32[2, 5, 9]", "i64[d, 3]", "i64[d, 3] -1..8 by 1: -1..1 | -1..4 | -1..8"),
    (
        "NonMaxSuppression opset9",
        "f32[1, k, 4]; f32[1, 1, k]",
        "i64[d, 3]",
        "i64[d, 3] 0..4 or k - 1 by 1: 0.. | 0.. | 0..4 or k - 1",
    ),
    ("Unique opset10", "i64[4]; 0", "i64[d]; i64[d]; i64[d]; i64[d]", "i64[d]; i64[d]; i64[d]; i64[d]"),
    ("TopK opset11 axis=2", "f32[4, 9]; 1", "f32[d]; i64[d]", "f32[d] or NaN; i64[d]"),
    ("TopK opset11 axis=0", "i64[4, 2] 1..9 by 1: 1.. | 9..; 2", "i64[...]; i64[...]", "i64[2, 2] 1..9; i64[2, 2] 0..3"),
    ("NonZero opset3", "i64[0]", "i64[1, d]", "i64[1, d] 0.."),
    ("NonZero opset3", "i64[1, 1]", "i64[2, d]", "i64[2, d]"),
    ("NonZero opset3", "i64[1, 2]", "i64[2, d]", "i64[2, d] 0..1 by 0: 0.. | 0..1"),
    ("NonZero opset3", "i64[1]", "i64[1, d]", "i64[1, d] 0.."),
    ("NonZero opset3", "i64[]", "i64[...]", "i64[...] 0.."),
    ("NonZero opset3", "i64[4, 5]", "i64[...]", "i64[...] 0..4 by 0: 0..3 | 0..4"),
    ("NonZero opset3", "i64[3] -1..1 by 0: 0..1 | -1..0 | 0..", "i64[1, d]", "i64[1, d] 0..1"),
    ("NonZero opset3", "f32[4] 0..1 by 0: 0.. | 0..1 | 1.. | 0.. or NaN", "i64[1, d]", "i64[1, d] 0..3"),
    ("NonZero opset3", "i64[2] 0..0 by 0: 0.. | 0..", "i64[1, d]", "i64[1, d] 0.."),
    ("NonZero opset3", "i64[4] 0..1 peak 1", "i64[1, d]", "i64[1, beyond 1(d) + 1] 0..3"),
    ("NonZero opset3", "i64[4] 0..1 peak 1", "i64[1, 2]", "i64[1, 2] 0..3"),
    ("NonZero opset3", "i64[4] 0..1 peak 0", "i64[1, d]", "i64[1, d] 0..3"),
    ("Bucketize opset3", "f32[4]; f32[n]", "i64[d]", "i64[4]"),
    ("Bucketize opset3", "f32[4]; f32[m]", "i64[d]", "i64[4] 0..2147483647 or m"),
    ("SearchSorted opset15", "f32[2, 6]; f32[2, 3]", "i64[d]", "i64[2, 3] 0..6"),
    # OneHot: a class that no index names has the value for "off" only; indices from the end are named in some versions
    ("OneHot opset1", "i64[4] -3..-2; 3; 1; 0", "i64[...]", "i64[4, 3] 0..1 by 1: 0..1 | 0..1 | 0.."),
    ("OneHot opset1 axis=1", "i64[4] 1..; 3; 1; 0", "i64[...]", "i64[4, 3] 0..1 by 1: 0.. | 0..1 | 0.. peak 1"),
    ("OneHot opset1 axis=-2", "i64[4] 1..; 3; 1; 0", "i64[...]", "i64[3, 4] 0..1 by 0: 0.. | 0..1 | 0.. peak 1"),
    ("OneHot opset1 axis=2", "i64[4] 1..; 3; 1; 0", "i64[...]", "i64[...] 0..1"),
    ("OneHot opset1 axis=-3", "i64[4] 1..; 3; 1; 0", "i64[...]", "i64[...] 0..1"),
    ("OneHot opset1", "i64[n] 0..2; 3; 1; 0", "i64[...]", "i64[n, 3] 0..1"),
    ("OneHot opset1", "i64[4] 0..2; 3; i64[] 1..2; 5", "i64[...]", "i64[4, 3] 1..5 peak 1"),
    ("OneHot opset1", "i64[4] 0..2; 3; f32[] 1..1 or NaN; f32[] 0..", "f32[...]", "f32[4, 3] 0..1 or NaN"),
    ("OneHot opset1", "i64[4] 0..2; 3; f32[] 1..1; f32[] 0..0 or NaN", "f32[...]", "f32[4, 3] 0..1 or NaN peak 1"),
    ("OneHot opset1", "i64[4] 1..; 65; 1; 0", "i64[...]", "i64[4, 65] 0..1 peak 1"),
    ("OneHot opset1", "i64[4] 1..; 64; 1; 0", "i64[...]", f"i64[4, 64] 0..1 by 1: 0.. | 0..1{' | 0..' * 62} peak 1"),
    # Range: where the end is before the start, the plugin counts as many upwards
    ("Range opset4", "2; 9; 3", "i64[d]", "i64[d] 2..8"),
    ("Range opset4", "0; value; 1", "i64[d]", "i64[value(x)] 0..value - 1"),
    ("Range opset4", "5; 0; 1", "i64[d]", "i64[d] 5..9"),
    ("Range opset4", "9; 2; -1", "i64[d]", "i64[7] 3..9"),
    ("Range opset4", "9; 2; -3", "i64[d]", "i64[d] 3..9"),
    ("Range opset4", "2; 9; i64[] 0..1", "i64[d]", "i64[d]"),
    ("Range opset4", "9; 2; i64[] -1..0", "i64[d]", "i64[d]"),
    ("Range opset4", "f32[] 0.5..; f32[] 2.5..; f32[] 1..", "i64[d]", "i64[d] -2..3"),
    ("Range opset4", "0; f32[] 0..9; 1", "i64[d]", "i64[d] -9..9"),
    ("Range opset4", "f32[] 0..2; f32[] 0..9; f32[] 1..", "f32[d]", f"f32[d] {-9 - 9 * 2.0**-22}..{9 + 9 * 2.0**-22}"),
    ("Range opset4", "f32[] 0..?; f32[] 0..9; f32[] 1..", "i64[d]", "i64[d] -9..?"),
    ("Range opset4", "f32[] 0..2 or NaN; f32[] 0..9; f32[] 1..", "i64[d]", "i64[d]"),
    ("Range opset4", "f32[] 0..2; f32[] 0..9 or NaN; f32[] 1..", "i64[d]", "i64[d]"),
]
OF_ONNX = [
    # a run with an index out of bounds ends, so that nothing but data is read
    ("Gather axis=0", "i64[5] 2..3; i64[3] 0..9", "i64[...]", "i64[3] 2..3"),
    ("GatherElements axis=0", "i64[5] 2..3; i64[3] 0..9", "i64[...]", "i64[3] 2..3"),
    ("GatherND", "i64[5] 2..3; i64[3, 1] 0..9", "i64[3]", "i64[3] 2..3"),
    ("TopK axis=0", "f32[4]; i64[1]", "f32[d]; i64[d]", "f32[d]; i64[d] 0..3"),
    ("TopK", "f32[n, 4]; (2)", "f32[...]; i64[...]", "f32[n, 2]; i64[n, 2] 0..3"),
    ("ArgMin axis=-2", "f32[3, 5]", "i64[1, 5]", "i64[1, 5] 0..2"),
    ("ArgMax", "f32[n, 5]", "i64[1, 5]", "i64[1, 5] 0..2147483647 or n - 1"),
    ("ArgMax axis=2", "f32[3, 5]", "i64[d]", "i64[d]"),
    ("NonZero", "i64[1, 1]", "i64[2, d]", "i64[2, d] 0.."),
    ("Range", "i64[] 2 or k..9; n; 1", "i64[d]", "i64[d] 2 or k..n - 1"),
    ("Range", "n; k; -1", "i64[d]", "i64[d] 3 or k + 1..n"),
    ("OneHot", "i64[4]; 3; (2, 7)", "i64[4, 3]", "i64[4, 3] 2..7"),
    ("NonMaxSuppression", "f32[2, 9, 4]; f32[2, 5, 9]", "i64[d, 3]", "i64[d, 3] 0..8 by 1: 0..1 | 0..4 | 0..8"),
    ("NonMaxSuppression", "f32[2, 9, 4]; f32[2, 5, 9]", "i64[d, d]", "i64[d, 3] 0..8 by 1: 0..1 | 0..4 | 0..8"),
    ("NonMaxSuppression", "f32[2, 9, 4]; f32[...]", "i64[d, 3]", "i64[d, 3]"),
    ("Unique", "f32[9] 1..2", "f32[d]; i64[d]; i64[9]; i64[d]", "f32[d] 1..2; i64[d] 0..8; i64[9] 0..8 or d - 1; i64[d] 1..9"),
    (
        "Unique sorted=0",
        "f32[n, 4] 1..2",
        "f32[d]; i64[d]; i64[d]",
        "f32[d] 1..2; i64[d] 0..2147483647 or 4 * n - 1; i64[4 * n] 0..2147483647 or d - 1",
    ),
    ("Unique axis=0", "f32[9, 2] 1..2", "f32[d, 2]; i64[d]", "f32[d, 2] 1..2; i64[d] 0..2147483647"),
    ("ScatterElements reduction=add", "i64[4] 1..2; i64[1] 0..; i64[1] 5..6", "i64[...]", "i64[4]"),
    ("ScatterND", "i64[4] 1..2; i64[1, 1] 0..; i64[1] 5..6", "i64[...]", "i64[4] 1..6"),
]


@pytest.mark.parametrize(("operation", "inputs", "declared", "expected"), GATHERS + SCATTERS + MADE)
def test_openvino(operation, inputs, declared, expected):
    assert by_openvino(operation, inputs, declared) == expected


@pytest.mark.parametrize(("operation", "inputs", "declared", "expected"), OF_ONNX)
def test_onnx(operation, inputs, declared, expected):
    assert by_onnx(operation, inputs, declared) == expected


@pytest.mark.parametrize(
    ("kind", "opset", "expected"),
    [
        ("Gather", "opset8", True),
        ("Gather", "opset7", False),
        ("Gather", "ov_gather", True),
        ("GatherElements", "opset6", True),
        ("ScatterUpdate", "opset3", False),
        ("ScatterNDUpdate", "opset3", True),
    ],
)
def test_which_indices_count_from_the_end(kind, opset, expected):
    assert counts_from_end(node_of(kind, opset, {})) == expected


def test_operations_of_which_nothing_is_known():
    assert rule_of(node_of("Add", "opset1", {"auto_broadcast": "pdpd"})) is None
    assert rule_of(node_of("Unheard", "opset1", {})) is None
    assert onnx.rule_of(node_of("Unheard", "", {})) is None

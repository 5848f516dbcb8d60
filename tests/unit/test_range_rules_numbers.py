"""What the analysis says of arithmetic, comparisons and reductions: worked out by hand, row by row."""

import pytest

from helpers.rule_calls import by_onnx, by_openvino

E = 2.0**-22
"""The relative error of one operation on floating-point numbers."""


def near(low: float, high: float) -> str:
    """The bounds of a result in floating-point numbers that lies between these, but for rounding."""
    return f"{low - abs(low) * E}..{high + abs(high) * E}"


REMAINDER = 7 + 100 * E
BROADCAST = [
    ("Add opset1", "i64[n] 1..3; i64[1] 5..6", "i64[d]", "i64[n] 6..9"),
    ("Add opset1", "i64[2] 1..9 by 0: 1.. | 9..; i64[...] 5..6", "i64[d]", "i64[d] 6..15"),
    ("Add opset1", "i64[2] 1..9 by 0: 1.. | 9..; i64[...] 5..6", "i64[2]", "i64[2] 6..15"),
    ("Add opset1", "i64[n] 1..3; i64[3] 5..6", "i64[...]", "i64[3] 6..9"),
    ("Add opset1", "i64[n] 1..3; i64[m] 5..6", "i64[d]", "i64[d] 6..9"),
    ("Add opset1", "i64[n] 1..3; i64[1] 5..6", "i64[d, d]", "i64[d, d] 6..9"),
    ("Add opset1", "i64[2] 1..9 by 0: 1.. | 9..; i64[3, 1] 0..5", "i64[...]", "i64[3, 2] 1..14 by 1: 1..6 | 9..14"),
    ("Add opset1 auto_broadcast=numpy", "i64[2] 1..3; i64[2] 5..6", "i64[...]", "i64[2] 6..9"),
    ("Power opset1", "i64[3, 1] 1..2; i64[4] 1..2", "i64[...]", "i64[3, 4]"),
]
INTEGERS = [
    ("Add opset1", "n; 1", "i64[...]", "i64[] 1 or n + 1..n + 1"),
    ("Subtract opset1", "i64[] 0..n; m", "i64[...]", "i64[] -m..-m + n or n - 1"),
    ("Multiply opset1", "i64[] 0..n - 1; k", "i64[...]", "i64[] 0..k * n - k or 5 * n - 5"),
    ("Multiply opset1", "i64[] 0..n; 3", "i64[...]", "i64[] 0..3 * n"),
    ("Multiply opset1", "-3; i64[] 0..n", "i64[...]", "i64[] -3 * n..0"),
    ("Multiply opset1", "i64[] 0..n; 0", "i64[...]", "i64[] 0.."),
    ("Divide opset1", "i64[] 7..20; i64[] 0..3", "i64[...]", "i64[]"),
    # a product that is no number of elements may be rounded: 16777221 / 3 = 5592406
    ("Divide opset1", "m * n; m", "i64[...]", "i64[] -1..m * n"),
    ("Divide opset1", "i64[] 0..n; 2", "i64[...]", "i64[] 0..(n // 2)"),
    ("Divide opset1", "n; 2", "i64[...]", "i64[] 0 or (n // 2)..(n // 2)"),
    ("Divide opset1", "i64[] 0..2 * n; 2", "i64[...]", "i64[] 0..n"),
    ("Divide opset1", "i64[] 4 or 2 * k..2 * n - 1; 2", "i64[...]", "i64[] 2 or k..n - 1"),
    ("Divide opset1", "i64[] 0..2 * n + 3; 2", "i64[...]", "i64[] 0..n + 1"),
    ("Divide opset1", "i64[] -1..n - 1; 2", "i64[...]", "i64[] -1..?"),
    ("Divide opset1", "i64[] 0..2 * n; i64[] 1..2", "i64[...]", "i64[] 0..2 * n"),
    ("Divide opset1", "i64[] 0..value; 2", "i64[...]", "i64[] -1..value"),
    ("Divide opset1", "i64[] 0..16777216; 2", "i64[...]", "i64[] 0..8388608"),
    ("Divide opset1", "i64[] -16777217..0; 2", "i64[...]", "i64[] -8388612..1"),
    ("Divide opset1", "i64[] 0..9; i64[] 1..16777217", "i64[...]", "i64[] -1..10"),
    ("Mod opset1", "i64[] 0..100; 7", "i64[...]", "i64[] 0..6"),
    ("FloorMod opset1", "i64[] 3..5; i64[] 7..9", "i64[...]", "i64[] 3..5"),
    ("FloorMod opset1", "13; 7", "i64[...]", "i64[] 6.."),
    ("FloorMod opset1", "i64[] 0..20; i64[] 0..9", "i64[...]", "i64[]"),
    ("Mod opset1", "i64[]; 256", "i64[...]", "i64[] -255..255"),
    ("FloorMod opset1", "i64[]; 16777216", "i64[...]", "i64[] 0..16777215"),
    ("FloorMod opset1", "i64[]; 33554432", "i64[...]", "i64[]"),
    ("FloorMod opset1", "i64[] -16777216..0; 7", "i64[...]", "i64[] 0..6"),
    ("FloorMod opset1", "i64[] -16777217..0; 7", "i64[...]", "i64[]"),
    ("FloorMod opset1", "i64[] -n..0; 7", "i64[...]", "i64[] 0..6"),
    ("FloorMod opset1", "i64[] 0..value; 7", "i64[...]", "i64[]"),
    ("FloorMod opset1", "i64[] 0 or n..2 * n - 1; n", "i64[...]", "i64[] 0..n - 1 or 2 * n - 1"),
    ("FloorMod opset1", "i64[] 0..n; n", "i64[...]", "i64[]"),
    ("Abs opset1", "i64[] -3..4", "i64[...]", "i64[] 0..4"),
    ("Abs opset1", "i64[] 2..4", "i64[...]", "i64[] 2..4"),
    ("Abs opset1", "i64[] -n..n", "i64[...]", "i64[] 0..n"),
    ("Negative opset1", "i64[] -3..n", "i64[...]", "i64[] -n..3"),
    ("ReLU opset1", "i64[] -3..4", "i64[...]", "i64[] 0..4"),
    ("Sign opset1", "i64[4]", "i64[...]", "i64[4] -1..1"),
    # what is chosen may pass through float32, in which 2^31 - 1 is 2^31
    ("Minimum opset1", "i64[]; n - 1", "i64[...]", "i64[] ?..n - 1"),
    ("Maximum opset1", "i64[] 16777219..16777300; 0", "i64[...]", "i64[] 16777219..16777300"),
    ("Clamp opset1 min=0.5 max=3.7", "i64[4]", "i64[...]", "i64[4] 0..4"),
    ("Clamp opset1 min=0.5 max=3.7", "i64[4] 9..", "i64[...]", "i64[4] 3..4"),
    ("Clamp opset1 min=-inf max=6", "i64[4]", "i64[...]", "i64[4] ?..6"),
    # of a mask that is not negative, no more is left
    ("BitwiseAnd opset13", "i64[4]; 63", "i64[...]", "i64[4] 0..63"),
    ("BitwiseAnd opset13", "n; i64[4] -1..7", "i64[...]", "i64[4] 0..n"),
    ("BitwiseAnd opset13", "i64[4] 0..2147483647; n", "i64[...]", "i64[4] 0..2147483647 or n"),
    ("BitwiseAnd opset13", "i64[4] -8..-1; i64[4] -4..9", "i64[...]", "i64[4]"),
    ("BitwiseOr opset13", "i64[4] 0..5; i64[4] 0..8", "i64[...]", "i64[4] 0..15"),
    ("BitwiseXor opset13", "i64[4] -1..5; 8", "i64[...]", "i64[4]"),
    ("BitwiseXor opset13", "i64[4] 0..7; i64[4] 0..7", "i64[...]", "i64[4] 0..7"),
    ("BitwiseOr opset13", "n; 8", "i64[...]", "i64[]"),
    ("RandomUniform opset8", "(2); 5; 5", "i64[...]", "i64[2]"),
    ("RandomUniform opset8", "i64[2]; 0; 5", "i64[d, d]", "i64[d, d] 0..4"),
    ("RandomUniform opset8", "(2); f32[] 0..; f32[] 1..", "f32[...]", "f32[2] 0..1"),
    ("Select opset1", "boolean[2] 0..1 by 0: 0.. | 1..; i64[2] 1..2; 5", "i64[...]", "i64[2] 1..5 by 0: 5.. | 1..2"),
    ("Select opset1", "boolean[]; f32[] 0..0 or NaN; f32[] 0..", "f32[...]", "f32[] 0.0.. or NaN"),
    ("Select opset1", "boolean[]; f32[] 0..; f32[] 0..0 or NaN", "f32[...]", "f32[] 0.0.. or NaN"),
]
CASTS = [
    ("Convert opset1", "i64[4] 0..9", "boolean[...]", "boolean[4] 0..1"),
    ("Convert opset1", "u8[4] 0..9", "boolean[...]", "boolean[4] 0..9"),
    ("Convert opset1", "f32[4] -1.5..2.5", "i64[...]", "i64[4] -1..2"),
    ("Convert opset1", "f32[4] 1..2 or NaN", "i64[...]", "i64[4]"),
    ("Convert opset1", "f32[4] 1..2 or NaN", "boolean[...]", "boolean[4] 0..1"),
    ("Convert opset1", "i64[4] 0..9", "f32[...]", f"f32[4] {near(0, 9)}"),
    ("Convert opset1", "i64[4] 0..2147483647", "f32[...]", "f32[4] or NaN"),
    ("Convert opset1", "i64[4] -2147483648..0", "f32[...]", "f32[4] or NaN"),
    ("Convert opset1", "u32[4] 0..4294967295", "f32[...]", "f32[4] or NaN"),
    ("Convert opset1", "i32[4] 0..2147483647", "f32[...]", f"f32[4] {near(0, 2147483647)}"),
    # dimensions are exact in float32, and so are they as bounds
    ("Convert opset1", "i32[] 0..4 or k - 1", "f32[...]", f"f32[] 0.0..{4 + 4 * E} or k - 1"),
    ("Convert opset1", "i32[] 0..value", "f32[...]", "f32[] 0.0..? or NaN"),
    ("Convert opset1", "f32[] -0.5..4.5 or k - 1", "i64[...]", "i64[] 0..4 or k - 1"),
    ("ConvertLike opset1", "i64[2] 1..9 by 0: 1.. | 9..; i32[]", "i32[...]", "i32[2] 1..9 by 0: 1.. | 9.."),
]
FRACTIONS = [
    ("Add opset1", "f32[] inf..inf; f32[] 5..6", "f32[...]", "f32[] inf.. or NaN"),
    # quotients of bytes are rounded to the nearest integer
    ("Divide opset1", "u8[] 0..255; u8[] 2..", "u8[...]", "u8[] 0..128"),
    ("Divide opset1", "i8[] -9..-3; i8[] 2..", "i8[...]", "i8[] -5..-1"),
    ("Divide opset1", "f32[] 1..4; f32[] 2..8", "f32[...]", f"f32[] {near(0.125, 2)}"),
    ("Divide opset1", "f32[] 1..4; f32[] 0..1", "f32[...]", "f32[] or NaN"),
    ("Divide opset1", "f32[] 1..4; f32[] -1..0", "f32[...]", "f32[] or NaN"),
    ("Divide opset1", "f32[] 1..?; f32[] 1..2", "f32[...]", "f32[] or NaN"),
    ("FloorMod opset1", "f32[] -100..100; f32[] -7..5", "f32[...]", f"f32[] {near(-REMAINDER, REMAINDER)} or NaN"),
    ("Divide opset1", "f32[] 1..4; f32[] ?..-1", "f32[...]", "f32[] or NaN"),
    ("FloorMod opset1", "f32[] -100..1; f32[] 1..7", "f32[...]", f"f32[] {near(-REMAINDER, REMAINDER)}"),
    ("FloorMod opset1", "f32[] 0..100; f32[] 1..7", "f32[...]", f"f32[] {near(-REMAINDER, REMAINDER)}"),
    ("Sqrt opset1", "f32[] 0..9", "f32[...]", f"f32[] 0.0..{3 + 3 * E}"),
    ("Sqrt opset1", "f32[] -1..9", "f32[...]", f"f32[] 0.0..{3 + 3 * E} or NaN"),
    ("Sqrt opset1", "f32[] 4..9 or NaN", "f32[...]", f"f32[] {near(2, 3)} or NaN"),
    # OpenVINO computes integers as fractions and truncates; of NaN it makes the least number of the type
    ("Sqrt opset1", "i64[] 0..9", "i64[...]", "i64[] 0.0..3.0"),
    ("Sqrt opset1", "i64[2] -1..9 by 0: -1.. | 9..", "i64[...]", "i64[2]"),
    ("Log opset1", "i8[] -1..9", "i8[...]", "i8[]"),
    ("Log opset1", "f32[] 1..1", "f32[...]", f"f32[] {near(-(2.0**-16), 2.0**-16)}"),
    ("Log opset1", "f32[] 0..1", "f32[...]", f"f32[] ?..{2.0**-16 * (1 + E)}"),
    ("Log opset1", "f32[] -1..1", "f32[...]", f"f32[] ?..{2.0**-16 * (1 + E)} or NaN"),
    ("Log opset1", "f32[] -2..0", "f32[...]", "f32[] or NaN"),
    ("Round opset5", "f32[] 0.4..0.6", "f32[...]", f"f32[] {near(0, 1)}"),
    ("Round opset5", "f32[] ?..?", "f32[...]", "f32[] or NaN"),
    ("Ceiling opset1", "f32[] 0.2..1.5", "f32[...]", f"f32[] {near(1, 2)}"),
    ("Floor opset1", "f32[] 0.2..?", "f32[...]", "f32[] 0.0..? or NaN"),
    ("Sigmoid opset1", "f32[4] -5..5", "f32[...]", f"f32[4] {near(0, 1)}"),
    ("Tanh opset1", "f32[4] -5..5", "f32[...]", f"f32[4] {near(-1, 1)}"),
    ("Minimum opset1", "f32[] 1..2 or NaN; f32[] 5..6", "f32[...]", f"f32[] {near(1, 6)} or NaN"),
    ("Clamp opset1 min=0.5 max=3.7", "f32[4] -9..9", "f32[...]", f"f32[4] {near(0.5, 3.7)}"),
    # NaN becomes the lower limit, and beside NaN the result is the other operand, unless both are NaN
    ("Clamp opset1 min=0.5 max=3.7", "f32[4] 9..9 or NaN", "f32[...]", f"f32[4] {near(0.5, 3.7)}"),
    ("Clamp opset1 min=0.5 max=3.7", "f32[4] or NaN", "f32[...]", f"f32[4] {near(0.5, 3.7)}"),
    ("Maximum opset1", "f32[] or NaN; f32[] 1..2", "f32[...]", f"f32[] {1 - E}..? or NaN"),
    ("Maximum opset1", "f32[] 1..2; f32[] ?..0 or NaN", "f32[...]", f"f32[] {near(1, 2)} or NaN"),
    ("Maximum opset1", "f32[] 1..2 or NaN; f32[] ?..0 or NaN", "f32[...]", f"f32[] ?..{2 + 2 * E} or NaN"),
    ("Minimum opset1", "f32[] 0..inf; f32[] 1..k - 1", "f32[...]", f"f32[] 0.0..{4 + 4 * E} or k - 1"),
    ("Floor opset1", "f32[] 0.5..4.5 or k - 1", "f32[...]", f"f32[] 0.0..{4 + 4 * E} or k - 1"),
]
COMPARISONS = [
    ("BitwiseAnd opset13", "boolean[3, 1]; boolean[4]", "boolean[...]", "boolean[3, 4] 0..1"),
    ("BitwiseOr opset13", "boolean[3, 1]; boolean[4]", "boolean[...]", "boolean[3, 4] 0..1"),
    ("LogicalNot opset1", "boolean[3, 1]", "boolean[...]", "boolean[3, 1] 0..1"),
    ("LogicalAnd opset1", "boolean[3, 1]; boolean[4]", "boolean[...]", "boolean[3, 4] 0..1"),
    ("Less opset1", "i64[3] 3..5; 3", "boolean[...]", "boolean[3] 0.."),
    ("LessEqual opset1", "i64[3] 3..5; 3", "boolean[...]", "boolean[3] 0..1"),
    ("GreaterEqual opset1", "i64[3] 0..2; 3", "boolean[...]", "boolean[3] 0.."),
    ("LessEqual opset1", "i64[] 3..5; i64[] 2..9", "boolean[...]", "boolean[] 0..1"),
    ("Equal opset1", "i64[] 3..5; i64[] 2..9", "boolean[...]", "boolean[] 0..1"),
    ("Equal opset1", "i64[] 0..2; 3", "boolean[...]", "boolean[] 0.."),
    ("Equal opset1", "i64[] 4..5; 3", "boolean[...]", "boolean[] 0.."),
    ("NotEqual opset1", "n; n", "boolean[...]", "boolean[] 0.."),
    ("NotEqual opset1", "n; m", "boolean[...]", "boolean[] 0..1"),
    ("Less opset1", "i64[] 0..n - 1; n", "boolean[...]", "boolean[] 1.."),
    ("Less opset1", "i64[] 0..n; n", "boolean[...]", "boolean[] 0..1"),
    ("Less opset1", "n; i64[] 0..n", "boolean[...]", "boolean[] 0.."),
    ("Less opset1", "f32[] 0..1 or NaN; f32[] 3..", "boolean[...]", "boolean[] 0..1"),
    ("Greater opset1", "i64[n] 0..5 peak 1; 0", "boolean[...]", "boolean[n] 0..1"),
    ("Greater opset1", "i64[m] 0..5 peak 1; 0", "boolean[...]", "boolean[m] 0..1 peak 1"),
]
KEPT, LEFT_OUT = " opset1 keep_dims=true", " opset1 keep_dims=false"
REDUCTIONS = [
    ("ReduceMin" + LEFT_OUT, "i64[4, 5] 1..2; (-2)", "i64[...]", "i64[5] 1..2"),
    ("ReduceMax" + KEPT, "i64[4, n] 1..2; 1", "i64[...]", "i64[4, 1]"),
    ("ReduceMax" + KEPT, "i64[4, m] 1..2; 1", "i64[...]", "i64[4, 1] 1..2"),
    ("ReduceMax" + KEPT, "i64[4] 16777217..16777219; 0", "i64[...]", "i64[1] 16777216..16777220"),
    (
        "ReduceMax" + KEPT,
        "i64[4, 2] 1..16777219 by 1: 1.. | 16777219..; 0",
        "i64[...]",
        "i64[1, 2] 1..16777220 by 1: 1.. | 16777219..16777220",
    ),
    ("ReduceMax" + KEPT, "i64[4, 5] 1..2; i64[]", "i64[d]", "i64[d]"),
    ("ReduceMax" + LEFT_OUT, "i64[4, 2] 1..9 by 1: 1.. | 9..; 1", "i64[...]", "i64[4] 1..9"),
    ("ReduceMean" + LEFT_OUT, "i64[4, 8] -2097152..0; 1", "i64[...]", "i64[4] -2097152..0"),
    ("ReduceMean" + LEFT_OUT, "i64[4, 8] -2097153..0; 1", "i64[...]", "i64[4]"),
    ("ReduceMean" + LEFT_OUT, "i64[4, 2] 1..9 by 1: 1.. | 9..; 0", "i64[...]", "i64[2] 1..9 by 0: 1.. | 9.."),
    ("ReduceMean" + LEFT_OUT, "i64[4, 2] 1..9000000 by 1: 1.. | 9000000..; 0", "i64[...]", "i64[2]"),
    ("ReduceMean" + LEFT_OUT, "f32[4, 8] 1..2; 1", "f32[...]", f"f32[4] {near(1, 2)}"),
    ("ReduceLogicalAnd" + LEFT_OUT, "boolean[4, 5]; 1", "boolean[...]", "boolean[4] 0..1"),
    ("ReduceLogicalOr" + KEPT, "boolean[...]; 0", "boolean[d]", "boolean[d] 0..1"),
    ("ReduceSum" + LEFT_OUT, "i64[4, 2] 1..9 by 1: 1.. | 9..; 0", "i64[...]", "i64[2] 0..36 by 0: 0..4 | 0..36"),
    ("ReduceSum" + KEPT, "i64[4, 2] 1..9 by 1: 1.. | 9..; 0", "i64[...]", "i64[1, 2] 0..36 by 1: 0..4 | 0..36"),
    ("ReduceSum" + LEFT_OUT, "i64[2, 4] 1..9 by 0: 1.. | 9..; 0", "i64[...]", "i64[4] 0..18"),
    ("ReduceSum" + LEFT_OUT, "i64[n] 0..3; 0", "i64[...]", "i64[] 0..6442452477 or 3 * n"),
    ("ReduceSum" + LEFT_OUT, "i64[4] -1..1 peak 1; 0", "i64[...]", "i64[] -4..4"),
    ("ReduceSum" + LEFT_OUT, "i64[4] 0..4194304 peak 1; 0", "i64[...]", "i64[] 0..16777216 peak 1"),
    ("ReduceSum" + LEFT_OUT, "i64[4] 0..16777216 peak 1; 0", "i64[...]", "i64[] 0..67108881"),
    ("ReduceSum" + LEFT_OUT, "i64[n] 0..1 peak 1; 0", "i64[...]", "i64[] 0..2147483647 or n peak 1"),
    ("ReduceSum" + LEFT_OUT, "f32[4] 0..1 peak 1; 0", "f32[...]", f"f32[] 0.0..{4 + 4 * E}"),
    ("ReduceSum" + LEFT_OUT, "i64[4]; 0", "i64[...]", "i64[]"),
    ("ReduceSum" + LEFT_OUT, "f32[4] 0..?; 0", "f32[...]", "f32[] 0.0..? or NaN"),
    ("ReduceSum" + LEFT_OUT, "f32[4] ?..0; 0", "f32[...]", "f32[] ?..0.0 or NaN"),
    ("ReduceSum" + LEFT_OUT, "f32[4] 0..1 or NaN; 0", "f32[...]", f"f32[] 0.0..{4 + 4 * E} or NaN"),
    ("CumSum opset3", "i64[4, 5] 1..2; -2", "i64[...]", "i64[4, 5] 0..8"),
    ("ReduceProd" + KEPT, "(3, 4); 0", "i64[...]", "i64[1] 12.."),
    ("ReduceProd" + LEFT_OUT, "(3, 4); i64[0]", "i64[...]", "i64[2]"),
    ("ReduceProd" + LEFT_OUT, "(5000, 5000); 0", "i64[...]", "i64[] 24999994..25000006"),
    ("ReduceProd" + LEFT_OUT, "i64[2] 0..n; 0", "i64[...]", "i64[]"),
]
OF_ONNX = [
    # a run that divides by 0 ends; arithmetic on integers is exact
    ("Div", "i64[] 7..20; i64[] 0..3", "i64[...]", "i64[] 2..20"),
    ("Div", "u8[] 0..255; u8[] 2..", "u8[...]", "u8[] 0..127"),
    ("Mod", "i64[] 0..20; i64[] 0..9", "i64[...]", "i64[] 0..8"),
    ("Mod fmod=1", "i64[] -20..20; 9", "i64[...]", "i64[] -8..8"),
    ("Max", "16777217; 0", "i64[...]", "i64[] 16777217.."),
    ("Clip", "i64[4]; 0; 6", "i64[...]", "i64[4] 0..6"),
    ("Clip", "i64[4]; -; 6", "i64[...]", "i64[4] ?..6"),
    ("Clip min=0", "f32[4] 2..3", "f32[...]", "f32[4] or NaN"),
    ("Clip max=0", "f32[4] 2..3", "f32[...]", "f32[4] or NaN"),
    ("ReduceMax axes=1,", "i64[4, 5] 1..2", "i64[...]", "i64[4, 1] 1..2"),
    ("ReduceMax keepdims=0", "i64[4, 5] 1..2; i64[0]", "i64[...]", "i64[] 1..2"),
    ("ReduceSum noop_with_empty_axes=1", "i64[4, 5] 1..2", "i64[...]", "i64[4, 5] 1..2"),
    ("ReduceSum noop_with_empty_axes=1", "i64[4, 5] 1..2; (0)", "i64[...]", "i64[1, 5] 0..8"),
    ("ReduceSum", "i64[4, 5] 1..2; i64[1]", "i64[d, d]", "i64[d, d]"),
]


@pytest.mark.parametrize(
    ("operation", "inputs", "declared", "expected"), BROADCAST + INTEGERS + CASTS + FRACTIONS + COMPARISONS + REDUCTIONS
)
def test_openvino(operation, inputs, declared, expected):
    assert by_openvino(operation, inputs, declared) == expected


@pytest.mark.parametrize(("operation", "inputs", "declared", "expected"), OF_ONNX)
def test_onnx(operation, inputs, declared, expected):
    assert by_onnx(operation, inputs, declared) == expected

"""The models of reproducers of upstream faults, and larger models that hold them."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import onnx
import onnx.parser
import openvino as ov
from openvino import opset13 as op

from ov_gather.acceleration.graph import walk
from tools.upstream.registry import FAULTS

_ITEMS = ",".join(map(str, range(60)))
IN_ONNX = {
    "abs_of_clamp": """<ir_version: 8, opset_import: ["" : 10]> g (float[2] x) => (float[2] y) {
        c = Constant<value = float[2] {-7, 2}>() d = Clip<min = -3.0, max = 3.0>(c) a = Abs(d) y = Add(x, a)
    }""",
    "abs_of_folded_convert": """g (float[2] x) => (float[2] y) {
        c = Constant<value = int32[2] {-7, 2}>() d = Cast<to = 1>(c) a = Abs(d) y = Add(x, a)
    }""",
    "non_zero_before_convert": "g (float[4] x) => (int64[1, n] y) { w = Cast<to = 6>(x) y = NonZero(w) }",
    "abs_overwrites_concat": "g (float[2] x) => (float[4] b, float[4] y) { b = Concat<axis = 0>(x, x) y = Abs(b) }",
    "constant_gather_before_matmul": f"""g (float[3,2,5] x) => (float[3,2,4] y) {{
        d = Constant<value = float[4,3,5] {{{_ITEMS}}}>()
        i = Constant<value = int64[4,3,5] {{{",".join(str(number * 7 % 4) for number in range(60))}}}>()
        g = GatherElements<axis = 0>(d, i) u = Transpose<perm = [1, 0, 2]>(g) t = Transpose<perm = [0, 2, 1]>(u)
        y = MatMul(x, t)
    }}""",
    "constant_divided_by_reduction": """g (int32[4] x) => (int32[1] y) {
        axis = Constant<value_ints = [0]>() c = Constant<value = int32 {200}>() s = ReduceMax(x, axis) y = Div(c, s)
    }""",
    "constant_minus_byte_reduction": """g (uint8[4] x) => (uint8[1] y) {
        axis = Constant<value_ints = [0]>() c = Constant<value = uint8 {200}>() s = ReduceMax(x, axis) y = Sub(c, s)
    }""",
    "convert_to_boolean_is_refused": """g (float[4] x) => (bool[2] y) {
        k = Constant<value_ints = [2]>() v, i = TopK(x, k) y = Cast<to = 9>(i)
    }""",
    "convert_to_boolean_of_another_output": """g (float[4] x) => (bool[2] y) {
        a, b = Split<num_outputs = 2>(x) y = Cast<to = 9>(b)
    }""",
    "transpose_of_open_sizes": "g (float[a, b, 1] x) => (float[1, a, b] y) { r = Relu(x) y = Transpose<perm = [2, 0, 1]>(r) }",
    "range_by_zero": "g (int32 s, int32 l, int32 d) => (int32[n] y) { y = Range(s, l, d) }",
    "strides_of_padding": """g (float[1, 1, 3, 3] x, float[1, 1, 1, 1] w) => (float[1, 1, n, m] y) {
        r = Relu(x) y = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(r, w)
    }""",
    "random_scalar": "g (float x) => (float y) { r = RandomUniformLike<low = 5.0, high = 5.5, seed = 3.0>(x) y = Floor(r) }",
    "unique_without_inverse": "g (float[4] x) => (float[n] y) { y = Unique<sorted = 0>(x) }",
    "pad_value_of_run_time": """g (float[3] x, float v) => (float[6] y) {
        w = Constant<value_ints = [1, 2]>() y = Pad(x, w, v)
    }""",
    "pad_value_through_float32": """g (int32[3] x) => (int32[6] y) {
        w = Constant<value_ints = [1, 2]>() v = Constant<value = int32 {16777217}>() y = Pad(x, w, v)
    }""",
    "arithmetic_after_integer_reduction": """g (int32[4,2,3] x) => (int32[4,2,1] y) {
        axis = Constant<value_ints = [2]>() c = Constant<value = int32 {20}>() m = ReduceMax(x, axis) y = Sub(c, m)
    }""",
    "sequence_lengths_ignored": """g (float[s, b, 1] x) => (float[s, 1, b, 1] y, float[1, b, 1] h) {
        w = Constant<value = float[1, 1, 1] {1}>() l = Constant<value = int32[2] {2, 1}>()
        y, h = RNN<hidden_size = 1, activations = ["Relu"]>(x, w, w, , l)
    }""",
    "transpose_of_nothing": "g (float[2, 0, 1] x) => (float[1, 2, 0] y) { t = Transpose<perm = [2, 0, 1]>(x) y = Neg(t) }",
    "unsqueeze_of_nothing": """g (float[0, b] x) => (float[1, 0, b] y) {
        axis = Constant<value_ints = [0]>() u = Unsqueeze(x, axis) y = Neg(u)
    }""",
    "slice_of_computed_axes": """g (float[3,4] x, int64[1] k) => (float[3,2] y) {
        one = Constant<value_ints = [1]>() three = Constant<value_ints = [3]>() axes = Min(k, one)
        y = Slice(x, one, three, axes)
    }""",
    "constant_result_overwritten": """g (int32[3] x) => (int32[3] y) {
        c = Constant<value = int32[3] {1, 1, 1}>() axis = Constant<value = int32 {0}>() s = CumSum(c, axis) y = Add(s, x)
    }""",
    "clamp_limits_through_float32": """g (int32[2] x) => (int32[2] y) {
        low = Constant<value = int32 {16777217}>() high = Constant<value = int32 {16777221}>() m = Max(x, low) y = Min(m, high)
    }""",
    "maximum_of_infinities": """g (bool[2, 3] m) => (float[2] y) {
        zero = Constant<value = float {0.0}>() least = Constant<value = float {-inf}>()
        axis = Constant<value_ints = [1]>() b = Where(m, zero, least)
        y = ReduceMax<keepdims = 0>(b, axis)
    }""",
    "relu_through_float32": "g (int32[2] x) => (int32[2] y) { y = Relu(x) }",
    "divide_after_reduction": """g (int32[4] x) => (int32[1] y) {
        axis = Constant<value_ints = [0]>() c = Constant<value = int32 {3}>() s = ReduceMax(x, axis) y = Div(s, c)
    }""",
    "select_through_float32": """g (int32[2] c, int32[2] x, int32[2] z) => (int32[2] y) {
        zero = Constant<value = int32 {0}>() below = Less(c, zero) y = Where(below, x, z)
    }""",
    "abs_of_reshaped_constants": """g (int64[1] t) => (float[2] y) {
        c = Constant<value = float[2] {1, -3}>() one = Div(t, t) every = Neg(one) r = Reshape(c, every) y = Abs(r)
    }""",
    "bidirectional_broadcast_of_no_elements": """g (float[2, 0] x) => (float[2, 0] y) {
        s = Constant<value_ints = [2, 1]>() y = Expand(x, s)
    }""",
    "broadcast_of_no_elements": """g (float[3, 0, 1] x) => (float[2, 3, 0, 4] y) {
        s = Constant<value_ints = [2, 3, 0, 4]>() y = Expand(x, s)
    }""",
    "bidirectional_broadcast_to_no_elements": """g (float[2, 1] x) => (float[2, 0] y) {
        s = Constant<value_ints = [2, 0]>() y = Expand(x, s)
    }""",
    "broadcast_of_empty_constant": """g (float[2, 0] x) => (float[2, 0] y) {
        n = Constant<value_ints = [1, 0]>() s = Constant<value_ints = [2, 0]>() c = ConstantOfShape(n) e = Expand(c, s)
        y = Add(x, e)
    }""",
    "non_zero_of_one_constant": """g (float[2] x) => (int64[2, 1] y, float[2] z) {
        c = Constant<value = float[1, 1] {3}>() y = NonZero(c) z = Neg(x)
    }""",
    "tile_run_time_repeats": """g (float[2, 3, 2, 2] x, int64[4] n) => (float[a, b, c, d] y) {
        most = Constant<value_ints = [2, 2, 2, 2]>() r = Min(n, most) y = Tile(x, r)
    }""",
    "if_before_pool": """g (bool c, float[1, 1, n, 4] x) => (float[1, 1, m, 3] y) {
        b = If <
            then_branch = t () => (float[1, 1, p, 4] u) { u = Neg(x) },
            else_branch = e () => (float[1, 1, q, 4] v) { v = Abs(x) }
        >(c) y = MaxPool<kernel_shape = [1, 2]>(b)
    }""",
    "broadcast_by_no_sizes": "g (float x, float z) => (float y) { s = Shape(z) y = Expand(x, s) }",
    "concat_of_nothing": "g (float[3, 0] x, float[a, none] z) => (float[b, 0] y) { y = Concat<axis = 0>(x, z) }",
    "gather_of_inserted_axis": """g (float[a, b] x) => (float[1, a, b] y) {
        axis = Constant<value_ints = [0]>() u = Unsqueeze(x, axis) y = Gather(u, axis)
    }""",
    "matmul_over_nothing": """g (float[a, 0] x) => (float[a, 3] y) {
        shape = Constant<value_ints = [0, 3]>() w = ConstantOfShape(shape) y = MatMul(x, w)
    }""",
    "non_zero_of_moved_nothing": """g (float[2, 0, 1] x) => (int64[3, n] y) {
        t = Transpose<perm = [2, 0, 1]>(x) y = NonZero(t)
    }""",
    "reshape_after_reduction": """g (float[2, 3, 2] x) => (float[1, 6] y) {
        axis = Constant<value_ints = [0]>() r = ReduceSum<keepdims = 0>(x, axis) y = Flatten<axis = 0>(r)
    }""",
    "reductions_of_nothing": """g (float[2, 0] x) => (float[2] y) {
        axis = Constant<value_ints = [1]>() y = ReduceMax<keepdims = 0>(x, axis)
    }""",
    "tile_by_no_repeats": "g (float x, float z) => (float y) { s = Shape(z) y = Tile(x, s) }",
    "tile_of_one_channel": """g (float[a, 1, 3, 2] x) => (float[a, 2, 6, 2] y) {
        r = Constant<value_ints = [1, 2, 2, 1]>() y = Tile(x, r)
    }""",
    "topk_of_none": "g (float[3] x) => (float[0] y, int64[0] i) { k = Constant<value_ints = [0]>() y, i = TopK(x, k) }",
    "unique_along_later_axis": "g (float[3, 4] x) => (float[3, n] y) { y = Unique<axis = 1>(x) }",
    "unique_of_constants": """g (float[2] x) => (int64[n] y, float[2] z) {
        c = Constant<value = float[3] {2, 1, 2}>() v, i = Unique(c) y = Unique(i) z = Neg(x)
    }""",
    "unique_slices_of_bytes": """g (int8[4, 2] x) => (int8[n, 2] y, int64[n] i) { y, i = Unique<axis = 0, sorted = 0>(x) }""",
}
"""Reproducers that are not in ONNX, as ONNX models."""


EXPORTS = ("light_resnet50", "light_shufflenet", "light_inception_v2")
"""Exported networks, without their weights, that the package onnx holds for tests of backends."""
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"


class _CaughtError(BaseException):
    """A reproducer compiles its model."""


def model_of(report: str) -> ov.Model:
    """Return the model that a reproducer compiles, without compiling it."""
    return _executed(report)[0]


def met_by(report: str) -> ov.Model:
    """Return a model that OVG7 reports for this fault: that of the reproducer, if no rule for gathers reports it before."""
    if report != "u32_constants_saturate":
        return model_of(report)
    values, x = op.constant(np.array([1, 2**32 - 1], np.uint32)), op.parameter([2], np.uint32)
    return ov.Model([op.concat([x, values], 0)], [x])


def onnx_of(report: str) -> onnx.ModelProto:
    """Return the model of a reproducer in ONNX."""
    text = IN_ONNX[report] if report in IN_ONNX else _executed(report)[1]["text"]
    return onnx.parser.parse_model(text if text.startswith("<") else f'<ir_version: 8, opset_import: ["" : 18]> {text}')


def _executed(report: str) -> tuple[ov.Model, dict[str, Any]]:
    """Return the model that a reproducer would compile, and its variables."""
    caught: list[ov.Model] = []
    variables: dict[str, Any] = {}

    def catch(*arguments: object, **_: object) -> None:
        caught.extend(one for one in arguments if isinstance(one, ov.Model))
        raise _CaughtError

    with patch.object(ov, "compile_model", catch), patch.object(ov.Core, "compile_model", catch), suppress(_CaughtError):
        exec(compile(FAULTS[report].source, report, "exec"), variables)
    return caught[0], variables


def as_ir(model: ov.Model, path) -> None:
    """Write a model as an IR with its constants unchanged."""
    ov.save_model(model, path, compress_to_fp16=False)


def between_layers(model: ov.Model) -> ov.Model:
    """Return the model between other layers, with other names, beside a network that has nothing to do with it."""
    for number, node in enumerate(model.get_ordered_ops()):
        node.set_friendly_name(f"block.{number}/{node.get_type_name()[::-1]}")
    inputs = []
    for parameter in model.get_parameters():
        given = op.parameter(parameter.get_output_partial_shape(0), parameter.get_output_element_type(0))
        readers = parameter.output(0).get_target_inputs()
        before = _neutral(given)
        for reader in readers:
            reader.replace_source_output(before)
        inputs.append(given)
    x = op.parameter([-1, 16], np.float32, name="beside")
    beside = x
    for seed in range(12):
        weights = np.random.default_rng(seed).standard_normal((16, 16), np.float32)
        beside = op.relu(op.matmul(beside, op.constant(weights), False, False))
    outputs = [op.result(_neutral(result.input_value(0).get_node(), result.input_value(0))) for result in model.get_results()]
    return ov.Model([*outputs, op.result(beside)], model.get_sinks(), [*inputs, x], "large")


def in_export(models: Mapping[str, ov.Model], name: str) -> ov.Model:
    """Return an exported network that models are planted into; the names of their layers begin with "planted", and theirs.

    The inputs of the models are computed from what the network returns, except strings and inputs of open sizes.
    """
    for planted, model in models.items():
        for number, (_, node) in enumerate(walk(model)):
            node.set_friendly_name(f"planted/{planted}/{number}")
    export = ov.Core().read_model(LIGHT / f"{name}.onnx")
    inputs, scores = [], op.reshape(export.get_results()[0].input_value(0), op.constant(np.array([-1])), False)
    for parameter in chain.from_iterable(model.get_parameters() for model in models.values()):
        shape, dtype = parameter.get_output_partial_shape(0), parameter.get_output_element_type(0)
        if shape.is_dynamic or dtype == ov.Type.string:
            inputs.append(parameter)
            continue
        sizes = shape.to_shape()
        first = op.slice(scores, *(op.constant(np.array([number])) for number in (0, math.prod(sizes), 1)))
        given = op.convert(op.reshape(first, op.constant(np.array(sizes, np.int64)), False), dtype)
        for reader in parameter.output(0).get_target_inputs():
            reader.replace_source_output(given.output(0))
    results = [*export.get_results(), *chain.from_iterable(model.get_results() for model in models.values())]
    sinks = [*chain.from_iterable(model.get_sinks() for model in models.values())]
    return ov.Model(results, sinks, [*export.get_parameters(), *inputs], name)


def in_branch(model: ov.Model) -> ov.Model:
    """Return an If whose branches are the model."""
    outer, other = [_like(parameter) for parameter in model.get_parameters()], model.clone()
    condition = op.parameter([], np.bool_, name="condition")
    choice = op.if_op(condition)
    choice.set_then_body(model)
    choice.set_else_body(other)
    for given, *inner in zip(outer, model.get_parameters(), other.get_parameters(), strict=True):
        choice.set_input(given.output(0), *inner)
    found = [choice.set_output(*pair) for pair in zip(model.get_results(), other.get_results(), strict=True)]
    return ov.Model([op.result(one) for one in found], [condition, *outer], "branch")


def in_loop(model: ov.Model) -> ov.Model:
    """Return a Loop whose body is the model, and whose outputs are those of the last iteration."""
    outer = [_like(parameter) for parameter in model.get_parameters()]
    again = op.result(op.constant(np.array([True])))
    body = ov.Model([*model.get_results(), again], model.get_parameters(), "body")
    trips = op.parameter([], np.int64, name="trips")
    loop = op.loop(trips, op.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, len(body.get_results()) - 1])
    for given, inner in zip(outer, model.get_parameters(), strict=True):
        loop.set_invariant_input(inner, given.output(0))
    found = [loop.get_iter_value(result.output(0), -1) for result in model.get_results()]
    return ov.Model([op.result(one) for one in found], [trips, *outer], "loop")


HOSTS: tuple[Callable[[ov.Model], ov.Model], ...] = (between_layers, in_branch, in_loop)


def _like(parameter: ov.Node) -> ov.Node:
    return op.parameter(parameter.get_output_partial_shape(0), parameter.get_output_element_type(0))


def _neutral(node: ov.Node, output: ov.Output | None = None) -> ov.Output:
    """Return the value after two layers that change nothing; that of strings itself."""
    value = node.output(0) if output is None else output
    if value.get_element_type() == ov.Type.string:
        return value
    twice = op.logical_not if value.get_element_type() == ov.Type.boolean else op.bitwise_not
    if value.get_element_type().is_real():
        twice = op.negative
    return twice(twice(value).output(0)).output(0)

"""The models of reproducers of upstream faults, and larger models that hold them."""

from collections.abc import Callable
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import openvino as ov
from openvino import opset13 as op

from tools.upstream.registry import FAULTS


class _CaughtError(BaseException):
    """A reproducer compiles its model."""


def model_of(report: str) -> ov.Model:
    """Return the model that a reproducer compiles, without compiling it."""
    caught: list[ov.Model] = []

    def catch(*arguments: object, **_: object) -> None:
        caught.extend(one for one in arguments if isinstance(one, ov.Model))
        raise _CaughtError

    with patch.object(ov, "compile_model", catch), patch.object(ov.Core, "compile_model", catch), suppress(_CaughtError):
        exec(compile(FAULTS[report].source, report, "exec"), {})
    return caught[0]


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

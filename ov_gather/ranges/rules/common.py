"""The transfer functions of a vocabulary, and those with attributes that ONNX and OpenVINO have in common."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ov_gather.graph.protocol import Node
from ov_gather.ops.table import Operators
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.rules import arithmetic, bits, comparing, elementwise, indexing, linear, reducing, shaping
from ov_gather.ranges.rules.call import Operands, TransferFunction

Make = Callable[[Node], TransferFunction]
"""A function from an operation, with its attributes, to its transfer function."""


def transfer_functions(operators: Operators, module: Mapping[str, Any]) -> dict[str, Make]:
    """Return the transfer functions of a vocabulary, by the names of its operators.

    For each rule of the table there is a function `bind_<rule>`, which binds attributes, or else a function `<rule>`: in the
    module of the vocabulary, here, or in the modules that vocabularies share.
    """
    shared = map(vars, (arithmetic, bits, comparing, elementwise, indexing, linear, shaping))
    functions: Mapping[str, Any] = ChainMap(dict(module), globals(), *shared)
    rules = {name: op.rule for name, op in operators.items() if op.rule}
    return {name: functions.get(f"bind_{rule}") or always(functions[rule]) for name, rule in rules.items()}


def always(rule: TransferFunction) -> Make:
    """Return the transfer function whatever the attributes are."""
    return lambda operation: rule


def along(rule: Callable[..., Sequence[Value]], default: int = 0) -> Make:
    """Bind the `axis` of a transfer function to an attribute."""
    return lambda operation: partial(rule, axis=operation.integer("axis", default))


bind_concatenate = along(shaping.concatenate)
bind_top_k = along(indexing.top_k, -1)


def bind_einsum(operation: Node) -> TransferFunction:
    """Bind the equation."""
    return partial(linear.einsum, equation=operation.text("equation"))


def bind_scatter(operation: Node) -> TransferFunction:
    """Bind the reduction."""
    return partial(indexing.scatter, reduction=operation.text("reduction", "none").lower())


def running_total(call: Operands) -> Sequence[Value]:
    """Infer CumSum, whose axis is an operand."""
    return reducing.running_total(call, call.integer(1))

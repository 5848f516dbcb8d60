"""Contracts of recurrent cells and sequences."""

from __future__ import annotations

from collections.abc import Mapping

from ov_gather.ir.element_types import INTEGERS
from ov_gather.ir.shapes import ANY, Dimension, PartialShape
from ov_gather.ops.contracts.call import BadCountError, BadValueError, Call, Output, UnjudgedError
from ov_gather.ops.contracts.sizes import NamedSizes, exactly, linear

_GATES: Mapping[str, int] = {"LSTM": 4, "GRU": 3, "RNN": 1}
"""How many gates the weights of each cell have."""
_FUNCTIONS: Mapping[str, int] = {"LSTM": 3, "GRU": 2, "RNN": 1}
"""How many activations each cell has."""
_ACTIVATIONS = ("sigmoid", "tanh", "relu", "softsign", "hardsigmoid")
"""The activations that the CPU plugin and OpenVINO's evaluation know."""


def cell(call: Call) -> list[Output]:
    """LSTMCell, GRUCell, RNNCell: one step."""
    family, hidden = _common(call)
    states = 2 if family == "LSTM" else 1
    if call.opset >= 4 and call.count > 4 + states:
        raise BadCountError(f"the layer has {call.count} inputs", f"{call.type} takes {4 + states} since opset 4")
    kind = call.same_type(*range(min(call.count, states + 4)))
    data = _matrix(call, 0, "X")
    sizes = NamedSizes(batch=data[0], inputs=data[1], hidden=exactly(hidden))
    for port in range(1, states + 1):
        sizes.fit(call, port, f"state {port}", "batch", "hidden")
    _weights(call, sizes, family, states + 1, lead=())
    state = PartialShape((sizes["batch"], _hidden(call)))
    return [(kind, state)] * states


def sequence(call: Call) -> list[Output]:
    """LSTMSequence, GRUSequence, RNNSequence: [batch, time, inputs], with lengths."""
    family, hidden = _common(call)
    states = 2 if family == "LSTM" else 1
    kind = call.same_type(0, *range(1, 1 + states), *range(2 + states, min(call.count, 5 + states)))
    directions = exactly(2 if call.word("direction") == "bidirectional" else 1)
    call.takes(1 + states, INTEGERS, "sequence_lengths")
    sizes = NamedSizes(hidden=exactly(hidden), directions=directions)
    sizes.fit(call, 0, "X", "batch", "time", "inputs")
    for port in range(1, states + 1):
        sizes.fit(call, port, f"state {port}", "batch", "directions", "hidden")
    sizes.fit(call, 1 + states, "sequence_lengths", "batch")
    _weights(call, sizes, family, states + 2, lead=("directions",))
    every = PartialShape((sizes["batch"], directions, sizes["time"], _hidden(call)))
    last = PartialShape((sizes["batch"], directions, _hidden(call)))
    return [(kind, every), *[(kind, last)] * states]


def _common(call: Call) -> tuple[str, int]:
    family = next(family for family in _GATES if call.type.startswith(family))
    hidden = call.whole("hidden_size", -1)
    call.at_least("hidden_size", hidden, 1)
    functions = [word.strip() for word in call.word("activations").split(",") if word.strip()]
    if "activations" in call.attributes and len(functions) < _FUNCTIONS[family]:
        raise BadValueError(f"activations has {len(functions)} words", f"{call.type} has {_FUNCTIONS[family]}")
    for word in functions[: _FUNCTIONS[family]]:
        if word not in _ACTIVATIONS:
            raise BadValueError(f"activations has '{word[:40]}'", f"one of {', '.join(_ACTIVATIONS)}")
    call.at_least("clip", call.number("clip"), 0)
    return family, hidden


def _matrix(call: Call, port: int, what: str) -> tuple[Dimension, Dimension]:
    call.has_rank(port, what, 2)
    dims = call.dims(port)
    if dims is None:
        raise UnjudgedError
    return dims[0], dims[1]


def _hidden(call: Call) -> Dimension:
    """Return the hidden size of the outputs, which OpenVINO takes from the first state, not from the attribute."""
    return (call.dims(1) or (ANY,))[-1]


def _weights(call: Call, sizes: NamedSizes, family: str, port: int, lead: tuple[str, ...]) -> None:
    """Check W, R and B, which stand at this position."""
    gates = _GATES[family]
    resets = family == "GRU" and call.flag("linear_before_reset")
    sizes["gates * hidden_size"] = linear(sizes["hidden"], gates)
    sizes["biases"] = linear(sizes["hidden"], gates + resets)
    sizes.fit(call, port, "W", *lead, "gates * hidden_size", "inputs")
    sizes.fit(call, port + 1, "R", *lead, "gates * hidden_size", "hidden")
    if port + 2 < call.count:
        sizes.fit(call, port + 2, "B", *lead, "biases")

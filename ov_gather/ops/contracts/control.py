"""Contracts of If, Loop and TensorIterator: what they read themselves.

What they pass into bodies and out of them, port maps and bodies tell: `ov_gather/rules/subgraphs.py` judges it.
"""

from __future__ import annotations

from ov_gather.ir.element_types import BOOLEAN, I32, I64, ElementType
from ov_gather.ops.contracts.call import BadSizeError, Call, Output, UnjudgedError


def branches(call: Call) -> list[Output]:
    """If: a condition of one element."""
    _one(call, 0, "the condition", BOOLEAN)
    raise UnjudgedError


def loop(call: Call) -> list[Output]:
    """Loop: a trip count and a condition of one element each."""
    _one(call, 0, "the trip count", I32, I64)
    _one(call, 1, "the condition", BOOLEAN)
    raise UnjudgedError


def iterator(_: Call) -> list[Output]:
    """TensorIterator: it reads nothing itself."""
    raise UnjudgedError


def _one(call: Call, port: int, name: str, *allowed: ElementType) -> None:
    """Raise BadTypeError, BadRankError or BadSizeError if an input is not one element of these types."""
    call.takes(port, allowed, name)
    call.has_rank(port, name, 0, 1)
    for dim in call.dims(port) or ():
        if 1 not in dim:
            raise BadSizeError(f"{name} has {dim} elements", f"{call.type} takes one", port)

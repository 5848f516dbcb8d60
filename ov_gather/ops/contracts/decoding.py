"""Contracts of operators that decode sequences: CTC, and the steps of a beam search."""

from __future__ import annotations

from operator import gt

from ov_gather.ir.element_types import I32, I64, INTEGERS, REALS
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.contracts.call import BadSizeError, BadValueError, Call, Output
from ov_gather.ops.contracts.sizes import NamedSizes, exactly


def greedy(call: Call) -> list[Output]:
    """CTCGreedyDecoder: [time, batch, classes], with a mask of steps."""
    sizes = NamedSizes()
    for port, name in ((0, "the input"), (1, "sequence_mask")):
        call.takes(port, REALS, name)
    sizes.fit(call, 0, "the input", "time", "batch", "classes")
    sizes.fit(call, 1, "sequence_mask", "time", "batch")
    return [(call.kind(0), PartialShape((sizes["batch"], sizes["time"], exactly(1), exactly(1))))]


def greedy_by_length(call: Call) -> list[Output]:
    """CTCGreedyDecoderSeqLen: [batch, time, classes], with lengths."""
    for name in ("classes_index_type", "sequence_length_type"):
        kind = call.element_type(name, I32)
        if kind not in (I32, I64):
            raise BadValueError(f"{name} is {kind}", "i32 or i64")
    sizes = NamedSizes()
    call.takes(0, REALS, "the input")
    sizes.fit(call, 0, "the input", "batch", "time", "classes")
    call.takes_integers(1, "sequence_length")
    sizes.fit(call, 1, "sequence_length", "batch")
    call.takes_integers(2, "blank_index")
    _one(call, 2, "blank_index")
    kinds = [call.element_type(name, I32) for name in ("classes_index_type", "sequence_length_type")]
    return [(kinds[0], PartialShape((sizes["batch"], sizes["time"]))), (kinds[1], PartialShape((sizes["batch"],)))]


def loss(call: Call) -> list[Output]:
    """CTCLoss: [batch, time, classes], with labels."""
    sizes = NamedSizes()
    call.takes(0, REALS, "logits")
    for port, name in ((1, "logit_length"), (2, "labels"), (3, "label_length"), (4, "blank_index")):
        call.takes_integers(port, name)
    sizes.fit(call, 0, "logits", "batch", "time", "classes")
    sizes.fit(call, 1, "logit_length", "batch")
    sizes.fit(call, 2, "labels", "batch", "time")
    sizes.fit(call, 3, "label_length", "batch")
    call.has_rank(4, "blank_index", 0)
    steps, time = call.wholes_of(1), sizes["time"].upper
    if steps is not None and (min(steps, default=1) < 1 or (time is not None and max(steps, default=1) > time)):
        raise BadValueError(f"logit_length are {list(steps)}", f"1 to {sizes['time']} steps", 1)
    labels = call.wholes_of(3)
    if labels is not None and min(labels, default=1) < 1:
        raise BadValueError(f"label_length are {list(labels)}", "each is 1 or more", 3)
    if labels is not None and steps is not None and any(map(gt, labels, steps)):
        raise BadValueError(f"label_length are {list(labels)}", f"at most {list(steps)}, the steps", 3)
    return [(call.kind(0), PartialShape((sizes["batch"],)))]


def beams(call: Call) -> list[Output]:
    """GatherTree: [time, batch, beams], followed back from the last step."""
    sizes, names = NamedSizes(), ("time", "batch", "beams")
    kind = call.same_type(*range(call.count))
    call.takes(0, (*INTEGERS, *REALS), "step_ids")
    sizes.fit(call, 0, "step_ids", *names)
    sizes.fit(call, 1, "parent_idx", *names)
    sizes.fit(call, 2, "max_seq_len", "batch")
    call.has_rank(3, "end_token", 0)
    return [(kind, PartialShape(tuple(sizes[name] for name in names)))]


def _one(call: Call, port: int, name: str) -> None:
    call.has_rank(port, name, 0, 1)
    dims = call.dims(port)
    if dims and 1 not in dims[0]:
        raise BadSizeError(f"{name} has {dims[0]} numbers", "one", port)

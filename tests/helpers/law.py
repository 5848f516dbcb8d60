"""The law over idioms: a fact of the book is met iff OpenVINO is wrong, bounds hold, and a conversion is right or reported."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino as ov
from numpy.typing import NDArray

from helpers.idioms import IDIOMS, Form
from helpers.range_analysis import beyond
from helpers.worker_process import call_each
from ov_gather.converters import ConversionError, LossyConversionWarning, convert_model
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.register import KNOWN
from ov_gather.ranges.known_faults import FaultFinder

STOCK = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
_OF_OTHER_INPUTS = ("i64 is computed as i32", "OVG712: Unique of no elements", "an index out of bounds")
"""How reports begin that are true for integers beyond 32 bits, for empty tensors, or for other indices, which no idiom has."""
_RIGHT_FOR_SOME = (
    *("broadcast_by_no_sizes", "broadcast_of_no_elements", "gather_of_inserted_axis", "if_before_pool"),
    *("loop_overwrites_outer_value", "matmul_over_nothing", "non_zero_of_moved_nothing", "tile_of_one_channel"),
    *(
        "reshape_after_reduction",
        "transpose_of_nothing",
        "unique_along_later_axis",
        "unique_of_constants",
        "unique_slices_of_bytes",
    ),
)
"""Faults that some nodes meet but do not show: it depends on more than the book looks at."""

Feeds = Mapping[str, NDArray[Any]]
Outputs = Sequence[NDArray[Any]]


class Kind(Enum):
    """What OpenVINO, or a conversion, did to a form."""

    NO_MODEL = "no model of its opset"
    NOT_READ = "stock: refused, or read as another model"
    SOUND = "stock: right"
    FOUND = "stock: wrong, and found"
    BY_CHANCE = "stock: right for these inputs, or by what lies in memory"
    MISSED = "stock: wrong, and not found"
    FALSE_FACT = "stock: right, but found"
    BEYOND = "outside of the bounds of prove"
    RIGHT = "right"
    REPORTED = "wrong, and reported"
    REFUSED = "refused"
    SILENT = "wrong, and not reported"
    FALSE_ALARM = "right, but reported"


EXCEPTIONS = (Kind.MISSED, Kind.FALSE_FACT, Kind.BEYOND, Kind.SILENT, Kind.FALSE_ALARM)
"""What breaks the law, and its twin."""


@dataclass(frozen=True)
class Verdict:
    """A kind, and what was told or went wrong."""

    kind: Kind
    text: str


def judge(form: Form) -> list[Verdict]:
    """Execute a form on onnxruntime, which optimizes nothing, and on OpenVINO, as it is and converted; compare and judge."""
    model, feeds = form.model()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnx.checker.check_model(model)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = session.run(None, feeds)
    except Exception as error:
        return [Verdict(Kind.NO_MODEL, str(error))]
    return [*_stock(form, model, feeds, expected), *_converted(form, model, feeds, expected)]


def _stock(form: Form, proto: onnx.ModelProto, feeds: Feeds, expected: Outputs) -> Iterator[Verdict]:
    """Judge what OpenVINO makes of a model, and whether the facts of the book say so."""
    try:
        model = _core().read_model(proto.SerializeToString())
    except RuntimeError as error:
        yield Verdict(Kind.NOT_READ, str(error))
        return
    if form.source in IDIOMS[form.idiom].unjudged:
        yield Verdict(Kind.NOT_READ, "the front end reads another model, or another rule reports this one")
        return
    if form.source == "constant" and any(not value.size for value in IDIOMS[form.idiom].inputs.values()):
        yield Verdict(Kind.NOT_READ, "the front end makes one element of a constant that has none")
        return
    facts = [fault for fault, _ in FaultFinder(OpenvinoGraph(model)).found(_FAULTS)]
    if any(fault.effect is Effect.FATAL for fault in facts):  # the process may end
        (found,) = call_each(_executed_apart, [(proto.SerializeToString(), feeds)], _died, "forkserver")
    else:
        found = _executed(model, feeds)
    text = f"{found}, not {expected}; met: {[fault.report for fault in facts]}"
    if not _is_right(found, expected):
        yield Verdict(Kind.FOUND if facts else Kind.MISSED, text)
    elif not facts:
        yield Verdict(Kind.SOUND, text)
    else:
        yield Verdict(Kind.BY_CHANCE if all(_may_be_right(form, fault) for fault in facts) else Kind.FALSE_FACT, text)
    if not isinstance(found, str):
        yield from (Verdict(Kind.BEYOND, one) for one in beyond(model, _given(model, feeds), found))


def _may_be_right(form: Form, fault: KnownFault) -> bool:
    """Return True for a fault that shows for some inputs, by what memory or an earlier inference holds, or in some orders."""
    is_of_others = fault.effect is Effect.DEPENDS and form.source != "constant"
    return (
        is_of_others
        or fault.report in _RIGHT_FOR_SOME
        or any(
            words in fault.instead
            for words in ("uninitialized", "in memory", "share memory", "earlier inference", "still reads")
        )
    )


def _converted(form: Form, proto: onnx.ModelProto, feeds: Feeds, expected: Outputs) -> Iterator[Verdict]:
    """Judge a conversion, and what it reports."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LossyConversionWarning)
        try:
            model = convert_model(proto)
        except ConversionError as error:
            yield Verdict(Kind.REFUSED, str(error))
            return
    told = [str(one.message) for one in caught if issubclass(one.category, LossyConversionWarning)]
    found = _executed(model, feeds)
    text = f"{found}, not {expected}; told: {told}"
    if _is_right(found, expected):
        # Of a model of constants no result differs for other inputs: nothing says whether a report is true.
        is_false = form.source != "constant" and any(not line.startswith(_OF_OTHER_INPUTS) for line in told)
        yield Verdict(Kind.FALSE_ALARM if is_false else Kind.RIGHT, text)
    else:
        is_named = any(operator in line for line in told for operator in IDIOMS[form.idiom].operators)
        yield Verdict(Kind.REPORTED if is_named else Kind.SILENT, text)
    if not isinstance(found, str):
        yield from (Verdict(Kind.BEYOND, one) for one in beyond(model, _given(model, feeds), found))


def _given(model: ov.Model, feeds: Feeds) -> list[NDArray[Any]]:
    return [next(array for name, array in feeds.items() if name in port.get_names()) for port in model.inputs]


def _executed(model: ov.Model, feeds: Feeds) -> Outputs | str:
    """Return the outputs of OpenVINO, or its error."""
    try:
        request = _core().compile_model(model, "CPU", STOCK).create_infer_request()
        ports = enumerate(request.model_inputs)
        request.start_async({i: array for i, port in ports for name, array in feeds.items() if name in port.get_names()})
        request.wait()
        return [tensor.data.copy() for tensor in request.output_tensors]
    except RuntimeError as error:
        return str(error)


def _executed_apart(model_and_feeds: tuple[bytes, Feeds]) -> Outputs | str:
    model, feeds = model_and_feeds
    return _executed(_core().read_model(model), feeds)


def _died(exit_code: int | None) -> str:
    return f"the process died, exit code {exit_code}"


def _is_right(found: Outputs | str, expected: Outputs) -> bool:
    """Return True for equal outputs; fractions may differ in their last bits."""
    return not isinstance(found, str) and all(
        one.shape == other.shape and (np.allclose(one, other, 1e-5) if one.dtype.kind == "f" else np.array_equal(one, other))
        for one, other in zip(found, expected, strict=True)
    )


@cache
def _core() -> ov.Core:
    return ov.Core()


_FAULTS = [fault for fault in KNOWN if not fault.before]

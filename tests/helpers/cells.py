"""Tools that try many forms of operators share this: each form is a cell, which has an outcome, and a table counts them."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import onnx
import openvino
from onnx import helper, numpy_helper, parser

from helpers.worker_process import call_each
from ov_gather.converters import LossyConversionWarning, compile_onnx
from ov_gather.runtimes.base import OutOfBoundsError
from ov_gather.runtimes.session import Session

TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "string", "complex64", "complex128"),
)
VALID = ("exact", "warned", "refused", "WRONG", "CRASH")
OUT_OF_BOUNDS = ("raises", "refused", "SILENT", "CRASH")
FORMS = ("static", "dynamic", "unknown rank")
BAD = ("beyond", "before", "other batches", "beyond 32 bits")
"""Kinds of operands without a result in ONNX, except for OneHot."""
Outcome = tuple[str, str]
"""One of VALID or OUT_OF_BOUNDS, and the reason."""


@dataclass(frozen=True)
class Cell:
    """The configuration of one model.

    Attributes:
        how: axis, layout, pattern or type of indices.
        constant: names of the operands that are initializers.
    """

    op: str
    type: str
    how: str
    kind: str
    form: str = "static"
    constant: tuple[str, ...] = ()
    reduction: str = "none"

    @property
    def valid(self) -> bool:
        return self.kind not in BAD or self.op == "OneHot"


class Subject(NamedTuple):
    """The nodes of a model as text, its operands, the right result, the text that an error must contain, and the opset."""

    text: str
    operands: Mapping[str, np.ndarray]
    right: np.ndarray
    fault: str = ""
    opset: int = 18


class Result(NamedTuple):
    """What became of a cell."""

    cell: Any
    outcome: str
    reason: str

    @property
    def is_bad(self) -> bool:
        """Whether the outcome is another than it must be."""
        return self.outcome != ("exact" if self.cell.valid else "raises")

    @property
    def is_silent(self) -> bool:
        """Whether the outcome is wrong, and nothing says so."""
        return self.outcome.isupper()


def results_of(outcome: Callable[[Any], Outcome | None], chosen: Sequence[Any]) -> list[Result]:
    """The results of cells, which a worker process executes; without those that have no outcome."""
    found = call_each(outcome, chosen, lambda code: ("CRASH", f"exit code {code}"))
    return [Result(cell, *answer) for cell, answer in zip(chosen, found, strict=True) if answer is not None]


def results_of_all(outcome: Callable[[Any], Outcome | None], groups: Sequence[Sequence[Any]]) -> list[Result]:
    """The results of groups of cells, of which two are executed at a time."""
    with ThreadPoolExecutor(2) as pool:
        return [result for part in pool.map(partial(results_of, outcome), groups) for result in part]


def model(cell: Cell, subject: Subject) -> onnx.ModelProto:
    """Return the model of a cell, whose `output` has the type of the right result."""
    inputs, initializers = [], []
    for name, array in subject.operands.items():
        tensor = numpy_helper.from_array(array, name)
        shapes = {"static": array.shape, "dynamic": [f"{name}_{i}" for i in range(array.ndim)], "unknown rank": None}
        if name in cell.constant:
            initializers.append(tensor)
        else:
            inputs.append(helper.make_tensor_value_info(name, tensor.data_type, shapes[cell.form]))
    output = helper.make_tensor_value_info("output", numpy_helper.from_array(subject.right).data_type, None)
    nodes = parser.parse_graph(f"nodes () => () {{ {subject.text} }}").node
    graph = helper.make_graph(nodes, "graph", inputs, [output], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", subject.opset)], ir_version=10)


def _on_ours(proto: onnx.ModelProto, given: Mapping[str, np.ndarray]) -> np.ndarray:
    return compile_onnx(proto)(given)["output"]


def _on_stock(proto: onnx.ModelProto, given: Mapping[str, np.ndarray]) -> np.ndarray:
    session = Session(_stock_core(), _stock_core().read_model(proto.SerializeToString()))
    try:
        (output,) = session([given[value.name] for value in proto.graph.input])
    except OutOfBoundsError as error:
        raise IndexError(str(error)) from None
    return output


@cache
def _stock_core() -> openvino.Core:
    return openvino.Core()


def outcome_of(subject_of: Callable[[Cell], Subject], cell: Cell, *, stock: bool = False) -> Outcome:
    """Return the outcome of a cell, and the reason. On OpenVINO alone any error for invalid operands is right."""
    subject, execute = subject_of(cell), _on_stock if stock else _on_ours
    given = {name: array for name, array in subject.operands.items() if name not in cell.constant}
    right = subject.right if cell.valid else None
    return judged(lambda: execute(model(cell, subject), given), right, lambda said: stock or subject.fault in said)


def dtype_of(element_type: str) -> np.dtype:
    return np.dtype(object if element_type == "string" else getattr(ml_dtypes, element_type, element_type))


def hostile(element_type: str, shape: Sequence[int], random: np.random.Generator, *, any_half: bool = False) -> np.ndarray:
    """Values that are hard to keep: extremes, infinities, denormals, NaN with payloads; of float16 quiet ones, or any."""
    count = int(np.prod(shape))
    if element_type == "string":
        return np.array([f"ä{i}" * (i % 30) for i in random.integers(0, 999, count)], object).reshape(shape)
    if element_type == "bool":
        return random.integers(0, 2, shape).astype(bool)
    dtype = dtype_of(element_type)
    data = np.frombuffer(random.bytes(count * dtype.itemsize), dtype).copy()
    if dtype.kind in "iu":
        data[: count // 3] = random.choice(np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 1], dtype), count // 3)
    elif dtype.kind != "c":
        tiny = ml_dtypes.finfo(dtype).smallest_subnormal
        data[: count // 3] = random.choice(np.array([np.inf, -np.inf, np.nan, -0.0, tiny, -tiny], dtype), count // 3)
    if element_type == "float16" and not any_half:
        data[np.isnan(data)] = np.nan
    return data.reshape(shape)


def judged(call: Callable[[], np.ndarray], right: np.ndarray | None, names_fault: Callable[[str], bool]) -> Outcome:
    """The outcome of a call, and the reason. Without a right result, the call must raise an error that names what is wrong."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            output = call()
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            return "raises" if right is None and names_fault(str(error)) else "refused", str(error)
    if right is None:
        return "SILENT", str(output.ravel()[-1:])
    if output.dtype == right.dtype and output.shape == right.shape and _bits(output) == _bits(right):
        return "exact", ""
    lossy = [str(warning.message) for warning in caught if issubclass(warning.category, LossyConversionWarning)]
    return ("warned", lossy[0]) if lossy else ("WRONG", f"{output.dtype}{output.shape}, not {right.dtype}{right.shape}")


def _bits(array: np.ndarray) -> object:
    return array.tolist() if array.dtype.hasobject else array.tobytes()


def losses(call: Callable[..., object], *arguments: Any, **options: Any) -> list[str]:
    """What a call warns of as lost."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments, **options)
    return [str(warning.message) for warning in caught if issubclass(warning.category, LossyConversionWarning)]


def last_index(indices: np.ndarray) -> str:
    """Return how an error names the last index, the one that is out of bounds, by position and value."""
    return f"indices[{', '.join(str(size - 1) for size in indices.shape)}] = {indices.flat[-1]} "


COLUMNS = ("", "type", "valid", *VALID, "beyond", *OUT_OF_BOUNDS)
"""Columns of a table of outcomes by operator and type."""


def counted(results: Sequence[Result], operators: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yield rows of COLUMNS: for each operator and type, for each operator, and for all."""
    for op, element_type in (*product(operators, TYPES), *((op, "") for op in operators), ("all", "")):
        mine = [each for each in results if op in ("all", each.cell.op) and element_type in ("", each.cell.type)]
        if not mine:
            continue
        numbers = []
        for valid, outcomes in ((True, VALID), (False, OUT_OF_BOUNDS)):
            counts = Counter(result.outcome for result in mine if result.cell.valid is valid)
            numbers += [counts.total(), *(counts[name] for name in outcomes)]
        yield op, element_type, *(str(number or "") for number in numbers)


def listed(results: Sequence[Result], is_bad: Callable[[Result], bool], *, verbose: bool) -> Iterator[str]:
    """Yield a line for each bad result, or for all that are not exact. Ends the program with exit code 1 if one is bad."""
    for result in results:
        if is_bad(result) or (verbose and result.outcome != "exact"):
            yield " ".join(map(str, result))
    if any(map(is_bad, results)):
        sys.exit(f"{sum(map(is_bad, results))} of {len(results)} results are bad")


def measured(
    subject_of: Callable[[Cell], Subject],
    operators: Collection[str],
    chosen: Sequence[Cell],
    is_bad: Callable[[Result], bool],
    *,
    stock: bool,
    verbose: bool,
) -> Iterator[tuple[str, ...] | str]:
    """Execute cells, in our package or on OpenVINO alone; yield rows and lines. Those of OpenVINO are only counted."""
    results = results_of_all(partial(outcome_of, subject_of, stock=stock), (chosen[::2], chosen[1::2]))
    yield from counted(results, operators)
    yield from listed(results, lambda result: is_bad(result) and not stock, verbose=verbose)

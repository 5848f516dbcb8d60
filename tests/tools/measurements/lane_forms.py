"""Test operators that move values through `compile_onnx`, bit by bit: those of NAMES, or all.

The forms of tests/helpers/moving_operators.py x 15 element types x static, dynamic and unknown shapes x data as an input or an
initializer. A result that differs from NumPy must come with a LossyConversionWarning or an error. Forms that OpenVINO's CPU
plugin computes wrongly, or crashes at, for any type are left out. Fails if a result is silently wrong, or a worker crashes.
`--verbose` lists all that is not exact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
from onnx import helper, numpy_helper

from helpers.cells import VALID, Outcome, judged, listed, results_of_all
from helpers.lane_models import values
from helpers.moving_operators import COMPUTING, FORMS, STOCK_IS_WRONG
from ov_gather.converters import compile_onnx
from tools.measurements import chosen

COLUMNS = ("form", "cells", *VALID, "not exact")
TYPES = {
    **{"int64": "int64", "uint64": "uint64", "float64": "double", "complex64": "complex64", "complex128": "complex128"},
    **{"float16": "float16", "bfloat16": "bfloat16", "float32": "float", "uint32": "uint32", "uint16": "uint16"},
    **{"int32": "int32", "int16": "int16", "int8": "int8", "uint8": "uint8", "bool": "bool"},
}
"""NumPy's name of each type -> its name in ONNX's text format."""


@dataclass(frozen=True)
class Cell:
    name: str
    type: str
    form: str = "static"
    source: str = "input"


def cells(name: str) -> Iterator[Cell]:
    """Yield the cells of a form."""
    if name in STOCK_IS_WRONG:
        return
    for element_type, form, source in product(TYPES, ("static", "open", "unknown rank"), ("input", "initializer")):
        yield Cell(name, element_type, form, source)


def arrays(cell: Cell) -> dict[str, np.ndarray]:
    """Return `x` and other inputs of its type: random bits, without NaN if results for NaN are undefined."""
    form, found = FORMS[cell.name], dict[str, np.ndarray]()
    for seed, (name, shape) in enumerate({"x": form.shape, **form.more}.items()):
        if cell.type == "bool":
            found[name] = np.random.default_rng(seed).integers(0, 2, shape).astype(bool)
            continue
        array = found[name] = values(getattr(ml_dtypes, cell.type, cell.type), tuple(shape), seed)
        if cell.name in COMPUTING:
            with np.errstate(invalid="ignore"):  # signalling NaN
                found[name] = np.where(array == array, array, array.dtype.type(0))
    return found


def model(cell: Cell) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Return the model of a cell, and its inputs."""
    form, numbers = FORMS[cell.name], arrays(cell)
    given = {name: np.asarray(array) for name, array in form.given.items()}
    constants = {name: np.asarray(array) for name, array in form.constants.items()}
    number = numpy_helper.from_array(numbers["x"]).data_type
    (constants if cell.source == "initializer" else given)["x"] = numbers.pop("x")
    (constants if "k" in numbers else given).update(numbers)
    text = re.sub(r"\bN\b", str(number), re.sub(r"\bT\b", f"{TYPES[cell.type]}[]", form.text)).replace("'", '"')
    graph = onnx.parser.parse_graph(f"g () => ({TYPES[cell.type]}[] y) {{ {text} }}")
    for name, array in given.items():
        shapes = {"static": array.shape, "open": [f"{name}{i}" for i in range(array.ndim)], "unknown rank": None}
        shape = shapes[cell.form] if name in numbers or name == "x" else array.shape
        kind = numpy_helper.from_array(array).data_type
        graph.input.append(helper.make_tensor_value_info(name, kind, shape))
    graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", form.opset)], ir_version=10), given


def outcome(cell: Cell) -> Outcome | None:
    """Return the outcome of a cell, and the reason; None if ONNX lacks the operator for the type."""
    proto, given = model(cell)
    if not is_defined(proto, TYPES[cell.type]):
        return None
    right = np.asarray(FORMS[cell.name].right(*arrays(cell).values()))
    return judged(lambda: compile_onnx(proto)(given)["y"], right, lambda message: False)


def is_defined(proto: onnx.ModelProto, element_type: str) -> bool:
    """Return True if all operators of a model accept an element type."""
    nodes = [*proto.graph.node, *(node for outer in proto.graph.node for attr in outer.attribute for node in attr.g.node)]
    schemas = [onnx.defs.get_schema(node.op_type, proto.opset_import[0].version) for node in nodes]
    return all(any(f"tensor({element_type})" in kind for kind in schema.outputs[0].types) for schema in schemas)


def measure(*names: str, verbose: bool = False) -> Iterator[tuple[str, ...] | str]:
    forms = [cell for name in chosen(names, FORMS) for cell in cells(name)]
    results = results_of_all(outcome, (forms[::2], forms[1::2]))
    for name in (*dict.fromkeys(result.cell.name for result in results), "all"):
        mine = [result for result in results if name in (result.cell.name, "all")]
        counts = Counter(result.outcome for result in mine)
        types = dict.fromkeys(result.cell.type for result in mine if result.outcome != "exact" and name != "all")
        yield name, str(len(mine)), *(str(counts[outcome] or "") for outcome in VALID), " ".join(types)
    yield from listed(results, lambda result: result.is_silent, verbose=verbose)

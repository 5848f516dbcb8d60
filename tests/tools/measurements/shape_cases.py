"""Compare `validate` with the tests of shape inference of another project: calls, and what they give, or that they are refused.

FILE is a list in JSON. A case has a name, a type, an opset, attributes, inputs, the output, and, if the call is refused, the
reason. An input has an element type, a shape, and the elements if it is a constant; null is an open rank. The opsets E, V, W
and X are those of the versions of an operator that share the case. Each case is an IR that declares the output.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ov_gather import validate
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import by_name
from ov_gather.ir.shapes import UNKNOWN, PartialShape
from ov_gather.ir.writer import to_bytes
from ov_gather.rules.findings import Severity

COLUMNS = ("operator", "given", "refused")
OPSETS = {"E": ("opset3", "opset12"), "V": ("opset5", "opset8"), "W": ("opset7", "opset8"), "X": ("opset4", "opset15")}

Described = Sequence[object]
"""An element type, a shape, and maybe elements."""


def measure(file: Path) -> Iterator[tuple[object, ...] | str]:
    """Yield how many cases of each operator are judged alike, and those that are not."""
    agreed: Counter[tuple[str, bool]] = Counter()
    different = []
    for name, operator, opsets, attributes, inputs, output, *reason in json.loads(file.read_text()):
        for opset in OPSETS.get(opsets, (opsets,)):
            xml, weights = _ir(operator, opset, attributes, inputs, output)
            errors = [found for found in validate(xml, weights=weights) if found.severity is Severity.ERROR]
            if bool(errors) == bool(reason):
                agreed[operator, bool(reason)] += 1
            else:
                said = "; ".join(f"{error.rule}: {error.message}" for error in errors) or "no error"
                different.append(f"{name} ({opset}): {said}; expected: {reason or output}")
    for operator in sorted({operator for operator, _ in agreed}):
        yield operator, agreed[operator, False], agreed[operator, True]
    yield from different
    yield f"{agreed.total()} of {agreed.total() + len(different)} calls are judged alike"


def _ir(
    operator: str, opset: str, attributes: dict[str, object], inputs: list[Described], output: Described
) -> tuple[bytes, bytes]:
    builder = ModelBuilder("case")
    given = []
    for number, (kind, shape, *elements) in enumerate(inputs):
        element_type, partial = by_name(str(kind)), _shape(shape)
        assert element_type is not None
        if elements:
            array = np.array(elements[0], element_type.dtype).reshape(partial.sizes)
            given.append(builder.const(f"in{number}", element_type, array))
        else:
            given.append(builder.parameter(f"in{number}", element_type, partial))
    element_type = by_name(str(output[0]))
    assert element_type is not None
    texts = {name: str(value) for name, value in attributes.items()}
    (value,) = builder.layer(operator, "call", opset, texts, given, [(element_type, _shape(output[1]))])
    builder.result("y", value)
    return to_bytes(builder.build())


def _shape(dims: object) -> PartialShape:
    return PartialShape.parse(",".join(map(str, dims))) if isinstance(dims, list) else UNKNOWN

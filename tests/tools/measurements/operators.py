"""Show what `validate` knows of each operator of the newest opsets, 16 and 17.

That is how many it finds of the single changes of a valid call that OpenVINO refuses, and whether the type and the shape of the
outputs are known. Changes are of attributes, of elements of constants, of shapes (and the number of inputs), and of types.
TYPES are the operators to show; all without. An operator without a contract is one of the gather family, whose specifications
say the same, one with bodies, or one that is not judged.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from helpers.operator_faults import outcomes
from helpers.operator_samples import Sample, samples
from ov_gather.ir.bodies import BODIES
from ov_gather.ir.element_types import by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import known_types
from ov_gather.ops.contracts.call import Call, UnjudgedError
from ov_gather.ops.contracts.register import CONTRACTS
from ov_gather.rules.opsets import operations

KINDS = {"attributes": r"[\w-]+=.*", "constants": r"input \d: element .*", "types": r"input \d: [a-z]+\d*"}
"""What a change is called; all others are of shapes."""
NEWEST = {"opset16", "opset17"}  # the latter is not complete
COLUMNS = ("operator", "attributes", "constants", "shapes", "types", "outputs")


def measure(*types: str) -> Iterator[tuple[object, ...] | str]:
    """Yield a row for operators of which the same is known, and those that have none."""
    newest = [name for name, opsets in sorted(operations().items()) if opsets.keys() & NEWEST]
    wanted = [name for name in newest if name in types or not types]
    given: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples():
        given[sample.type].append(sample)
    without = [name for name in wanted if not given[name]]
    alike: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in wanted:
        if name not in without:
            alike[_cells(given[name])].append(name)
    yield from ((", ".join(names), *cells) for cells, names in alike.items())
    others = {
        "the gather family": known_types(),
        "bodies, states and ends": {*BODIES, "Assign", "ReadValue", "Const", "Parameter", "Result"},
    }
    for what, names in others.items():
        yield f"Of {what}, by rules of their own: {', '.join(name for name in without if name in names)}"
    left = [name for name in without if not any(name in names for names in others.values()) and name not in CONTRACTS]
    yield f"Not judged: {', '.join(left) or 'none'}"


def _cells(given: list[Sample]) -> tuple[str, ...]:
    refused: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for sample in given:
        for what, done, errors in outcomes(sample)[1:]:
            kind = next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, what)), "shapes")
            refused[kind] += done != "ok"
            found[kind] += done != "ok" and bool(errors)
    cells = (f"{found[kind]} of {refused[kind]}" if refused[kind] else "" for kind in COLUMNS[1:5])
    return *cells, " or ".join(sorted({_known_of(sample) for sample in given}))


def _known_of(sample: Sample) -> str:
    """Return what the contract says of the outputs of a valid call."""
    constants = [given.elements for given in sample.inputs]
    shapes, types = [PartialShape.of(given.shape) for given in sample.inputs], [by_name(given.kind) for given in sample.inputs]
    call = Call(sample.type, sample.opset, sample.attributes, types, shapes, constants.__getitem__)
    try:
        outputs = CONTRACTS[sample.type].outputs(call)
    except UnjudgedError:
        return "unknown"
    if all(shape.is_static for _, shape in outputs):
        return "shapes"
    return "ranks" if all(shape.dims is not None for _, shape in outputs) else "types"

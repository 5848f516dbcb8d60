"""Make single faults in IRs, and compare what `validate` says with what OpenVINO does: it reads, compiles and executes them.

The IRs are the .xml and .onnx files of FOLDERS; without folders, calls of each operator that has a contract, varied and between
other layers, and ir_samples/valid/. Counted apart is what OpenVINO refuses to execute with the sizes that open dimensions
happen to have, and what it accepts against the specification. Faults that are not found, false alarms, and faults with several
errors are listed.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from helpers.model_faults import KINDS, Files, Sizes, fault, outcome, read, varied
from helpers.operator_faults import LENIENT, UNFOUND
from helpers.operator_samples import samples
from helpers.paths import VALID
from helpers.worker_process import DiedError, Worker
from ov_gather import validate
from ov_gather.rules.findings import Finding, Severity

COLUMNS = ("fault", "found", "not found", "for some sizes", "false alarm", "lenient", "accepted", "found by one error")
SECONDS = 120
"""Time limit for OpenVINO's verdict on one model."""
_OF_PORTS = ("OVG125", "OVG302", "OVG304", "OVG307", "OVG403", "OVG404", "OVG406")
"""Rules of declared ports: a fault leaves those behind it as they were. Those that OpenVINO infers are judged as well."""


def measure(*folders: Path, count: int = 200, seed: int = 1) -> Iterator[tuple[object, ...] | str]:
    """Yield the table, and what differs."""
    rng, worker = random.Random(seed), Worker[Any, Any](_call, daemon=True)
    models = _models(rng, worker, folders)
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    told = []
    for _ in range(count):
        made = None
        while made is None:
            name, files, sizes = next(models)
            if right := _errors(files):
                table["none"][_accepted(f"{name.partition('-')[0]}: as it is", right)] += 1
                told.append(f"without a fault: {name}: {right[0].rule}: {right[0].message}")
                continue
            kind = rng.choice(KINDS)
            made = fault(files, kind, rng.randrange(2**32))
        what, faulty = made
        done, inferred = _asked(worker, outcome, (faulty, sizes)) or ("end of the process", None)
        errors = _errors(faulty)
        if done == "ok":
            errors = [*_errors(inferred), *(error for error in errors if not error.rule.startswith(_OF_PORTS))]
            errors = [error for error in errors if not error.rule.startswith("OVG6")]
            verdict = _accepted(what, errors) if errors else "accepted"
        else:
            verdict = "found" if errors else _refused(what, done, faulty)
        table[kind][verdict] += 1
        table[kind]["found by one error"] += verdict == "found" and len(errors) == 1
        if verdict in ("not found", "false alarm") or (verdict == "found" and len(errors) > 1):
            said = "; ".join(f"{error.rule}: {error.message}" for error in errors[:4])
            told.append(f"{verdict} ({done}): {name}: {what}: {said}")
    total: Counter[str] = sum(table.values(), Counter())
    for row, counts in (*((kind, table[kind]) for kind in ("none", *KINDS)), ("all", total)):
        yield row, *(counts[column] for column in COLUMNS[1:])
    yield from told


def _models(rng: random.Random, worker: Worker[Any, Any], folders: tuple[Path, ...]) -> Iterator[tuple[str, Files, Sizes]]:
    """Yield the names of valid models, and the models, one at random after the other."""
    given = [] if folders else list(samples())
    files = [path for folder in folders or (VALID,) for kind in ("xml", "onnx") for path in sorted(folder.rglob(f"*.{kind}"))]
    read_before: dict[Path, tuple[Files, Sizes] | None] = {}
    while True:
        if given and rng.random() < 0.9:
            sample = rng.choice(given)
            name, model = str(sample), _asked(worker, varied, (sample, rng.randrange(2**32)))
        else:
            path = rng.choice(files)
            if path not in read_before:
                read_before[path] = _asked(worker, read, path)
            name, model = path.stem, read_before[path]
        if model is not None:
            yield name, *model


def _call(item: tuple[Callable[[Any], Any], Any]) -> Any:
    function, argument = item
    return function(argument)


def _asked(worker: Worker[Any, Any], function: Callable[[Any], Any], argument: object) -> Any:
    """Return what a function returns in the worker process; None if the process dies."""
    try:
        return worker.call((function, argument), SECONDS)
    except DiedError:
        return None


def _errors(files: Files) -> list[Finding]:
    return [found for found in validate(files[0], weights=files[1]) if found.severity is Severity.ERROR]


def _refused(what: str, done: str, faulty: Files) -> str:
    is_of_sizes = done == "inference" and b"<dim>-1</dim>" in faulty[0]
    return "for some sizes" if is_of_sizes or _is_named(UNFOUND, what) else "not found"


def _accepted(what: str, errors: list[Finding]) -> str:
    """Return "lenient" if each error, or the fault, is named so for the layer that it harms; else "false alarm"."""
    change = what.partition(": ")[2]
    harmed = [f"{error.location.layer_type}: {change}" for error in errors]
    return "lenient" if all(_is_named(LENIENT, one) or _is_named(LENIENT, what) for one in harmed) else "false alarm"


def _is_named(table: dict[str, str], what: str) -> bool:
    return any(re.fullmatch(pattern, what) for pattern in table)

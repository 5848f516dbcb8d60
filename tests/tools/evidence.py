"""Measure what the pages of docs/ show: `python tests/tools/evidence.py [NAME [ARGUMENT ...]]`; alone, list the names.

Each measurement is a module of tests/tools/measurements: `COLUMNS`, and `measure`, which yields rows of a table with these
columns, and lines. The parameters of `measure` are the arguments of the command; those that are keyword-only are its options.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import Parameter, signature
from itertools import groupby
from pathlib import Path
from typing import Any, get_args, get_type_hints

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

MEASUREMENTS = {
    "check": ("`check` of models with many gathers", "background/cross_check.md"),
    "cluster": ("`validate` of many IRs on a Dask cluster and with --jobs", "evidence/clusters.md"),
    "commands": ("commands on models of 50,000 operations and more", "evidence/benchmarks.md"),
    "gains": ("`accelerate` on real families of models", "evidence/acceleration.md"),
    "gathers": ("every form of a single gather or scatter through `compile_onnx`", "evidence/conversion.md"),
    "graph_networks": ("what fused aggregations gain in graph networks", "evidence/acceleration.md"),
    "guard": ("a guard beside `ids.min(), ids.max()`", "howto/guard_requests.md"),
    "harden": ("inference of hardened models", "evidence/acceleration.md"),
    "lane_forms": ("operators that move values of 64 bits through `compile_onnx`", "background/numbers_of_64_bits.md"),
    "lanes": ("gathers of int64 in lanes and narrowed to 32 bits", "evidence/conversion.md"),
    "large_bisect": ("`bisect` of a model with large values inside", "background/bisection.md"),
    "large_convert": ("`convert` and `ovc` on a large model", "evidence/conversion.md"),
    "near_gathers": ("operators near the gathers through `compile_onnx`", "evidence/conversion.md"),
    "nodes": ("from how many elements on our GatherElements pays", "background/acceleration.md"),
    "onnx_backend": ("ONNX's backend tests on stock OpenVINO and `compile_onnx`", "evidence/conversion.md"),
    "open_gains": ("`accelerate` on small models and open shapes", "evidence/acceleration.md"),
    "planted_faults": ("how many planted faults `bisect` names", "evidence/bisection.md"),
    "operators": ("what `validate` knows of each operator of OpenVINO", "evidence/validation.md"),
    "proofs": ("what `prove` proves of real models", "evidence/proved_models.md"),
    "pytorch_samples": (
        "PyTorch's samples of operators that index, stock and through `convert_model`",
        "evidence/conversion.md",
    ),
    "quantised": ("real architectures, quantised by NNCF, accelerated and converted", "background/acceleration.md"),
    "random_models": ("random models before and after `accelerate`", "background/acceleration.md"),
    "shape_cases": ("`validate` beside the tests of shape inference of another project", "evidence/validation.md"),
    "single_faults": ("single faults of IRs: what `validate` finds, and what OpenVINO refuses", "evidence/validation.md"),
}
"""What each module measures, and the page of docs/ that shows it."""


def main() -> None:
    if len(sys.argv) == 1 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        show([(name, *entry) for name, entry in MEASUREMENTS.items()], ("NAME", "measures", "shown in docs/"))
        return
    name = sys.argv[1]
    if name not in MEASUREMENTS:
        sys.exit(f"evidence.py: there is no measurement {name}; there are {', '.join(MEASUREMENTS)}")
    module = import_module(f"tools.measurements.{name}")
    parser = argparse.ArgumentParser(f"evidence.py {name}", None, module.__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, module.measure)
    positional, options = split(module.measure, parser.parse_intermixed_args(sys.argv[2:]))
    try:
        show(module.measure(*positional, **options), module.COLUMNS)
    except ValueError as error:
        parser.error(str(error))


def show(found: Iterable[tuple[Any, ...] | str], columns: tuple[str, ...]) -> None:
    """Print rows as a Markdown table, and lines as they are."""
    for is_line, group in groupby(found, lambda each: isinstance(each, str)):
        if not is_line:
            print(f"| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")
        for each in group:
            print(each if is_line else f"| {' | '.join(map(str, each))} |", flush=True)


def add_arguments(parser: argparse.ArgumentParser, measure: Callable[..., Any]) -> None:
    """Add an argument for each parameter of a function: positional, `*names`, or an option if it is keyword-only."""
    hints = get_type_hints(measure)
    for name, parameter in signature(measure).parameters.items():
        hint = hints[name]
        kind = next(iter(get_args(hint)), hint)  # of Sequence[int]: int
        form: dict[str, Any] = {"type": kind}
        if parameter.kind is Parameter.VAR_POSITIONAL or get_args(hint):
            form["nargs"] = "*"
        if parameter.kind is not Parameter.KEYWORD_ONLY:
            parser.add_argument(name, metavar=name.upper(), **form)
        elif kind is bool:
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(f"--{name}", default=parameter.default, **form)


def split(measure: Callable[..., Any], given: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and the keyword arguments of a function."""
    positional: list[Any] = []
    options: dict[str, Any] = {}
    for name, parameter in signature(measure).parameters.items():
        value = getattr(given, name)
        if parameter.kind is Parameter.KEYWORD_ONLY:
            options[name] = value
        elif parameter.kind is Parameter.VAR_POSITIONAL:
            positional += value
        else:
            positional.append(value)
    return positional, options


if __name__ == "__main__":
    main()

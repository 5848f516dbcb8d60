"""Execute every gather-family layer of an IR in designed cases and, in a whole model, on its own operands; compare the runtimes
with the NumPy reference, and the outputs of the model with our gathers beside stock OpenVINO's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ov_gather.crosscheck.cases.designed import DEFAULT_CASES, DEFAULT_SEED, DESIGNS, Case, as_cases, check_given, designed
from ov_gather.crosscheck.cases.swept import CASES_A_LAYER, DEFAULT_SWEEP, UNSAFE, layers
from ov_gather.crosscheck.environment import environment
from ov_gather.crosscheck.layers import check_layer
from ov_gather.crosscheck.models.ir import WholeIR, is_whole
from ov_gather.crosscheck.reduce import Keeper
from ov_gather.crosscheck.results import CrossCheckResult, LayerResult
from ov_gather.divergences import lacking
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, read_ir
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.runtimes.isolated import RUNTIMES, borrowed


def cross_check(
    source: Source | Model,
    inputs: Sequence[ArrayLike] | None = None,
    *,
    runtimes: Sequence[str] = ("kernel", "openvino"),
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_CASES,
    failures: Path | None = None,
) -> CrossCheckResult:
    """Execute each gather-family layer, isolated from its graph, on several runtimes, and compare with the NumPy reference.

    Where "openvino" is among them, and an IR has more than one layer to execute, it is executed whole, too, on made-up inputs:
    its layers get one more case, the operands that they have in it, and its outputs with our gathers must be those without.

    Args:
        source: what `read_ir` takes, or a Model. Beside `x.xml`, a file `x.expected.json` ({layer name: values}) with the
            outputs of layers whose inputs are all constant is compared, too.
        inputs: the inputs of the only layer that are not constant, in order; designed cases if not given.
        runtimes: of "kernel", "openvino", "extension" (OpenVINO with our operations) and "onnxruntime".
        seed: for the designed cases, and the inputs of a whole IR.
        cases: at most so many for a layer.
        failures: where the first failing case of each layer is written, as small as can be, to be run again.

    Returns:
        A result with `.passed`, `.divergences` and `.table()`.

    Raises:
        IRError: the document cannot be read.
        TypeError, ValueError: a runtime is unknown; `inputs` do not fit the layer, or are given for a source with several.
        FileNotFoundError, ImportError: a runtime is not installed.
    """
    for name in runtimes:
        if name not in RUNTIMES:
            raise ValueError(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    if not runtimes or cases < 1:
        raise ValueError("there must be a runtime and a case at least")
    with borrowed(runtimes) as others:  # they start while the document is read
        model = source if isinstance(source, Model) else read_ir(source)
        views = [view for _, graph in model.walk() for view in family_layers(graph)]
        if inputs is not None and len(views) != 1:
            raise ValueError(f"inputs are given, but there are {len(views)} gather-family layers")
        given = None if inputs is None else [np.asarray(array) for array in inputs]
        if given is not None:
            check_given(isolate(views[0]), given)
        expected = _expected_outputs(model.path)
        make = partial(designed, limit=cases, seed=seed) if given is None else lambda view: as_cases(given)
        keep = Keeper(failures) if failures else None
        whole = WholeIR(model, seed) if given is None and "openvino" in runtimes and is_whole(model) else None
        layers = tuple(
            check_layer(view, partial(_after, own, make), others, expected.get(view.layer.name), keep)
            for view, own in zip(views, whole.own_cases(views) if whole else repeat(None), strict=False)
        )
        outputs = whole.outputs(views, layers) if whole else ()
        return CrossCheckResult(layers, seed, environment(others), outputs, whole.not_run if whole else "")


def _after(own: Case | None, make: Callable[[LayerView], Iterable[Case]], view: LayerView) -> Iterable[Case]:
    """The case with its own operands first: a runtime may not survive the last ones of those that are made."""
    return chain([own] if own else (), make(view))


def sweep(
    runtimes: Sequence[str],
    *,
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_SWEEP,
    failures: Path | None = None,
    progress: Callable[[int], object] = int,
) -> CrossCheckResult:
    """The same for made-up layers of the whole family, until there are `cases` in all.

    Args:
        runtimes: as for `cross_check`.
        seed: for layers and cases.
        cases: how many in all.
        failures: as for `cross_check`.
        progress: is told how many there are, time and again.

    Raises FileNotFoundError, ImportError where a runtime is not installed.
    """
    results: list[LayerResult] = []
    done = 0
    with borrowed(runtimes) as others:
        for number, model in enumerate(layers(seed)):
            (view,) = family_layers(model)
            if all(lacking(it.name, it.version, view) for it in others if it.name != "kernel"):
                continue  # nothing to compare with
            make = partial(_some, number=number, limit=min(CASES_A_LAYER, cases - done), seed=seed + number)
            results.append(check_layer(view, make, others, keep=Keeper(failures) if failures else None))
            done += len(results[-1].cases)
            progress(done)
            if done >= cases:
                break
        return CrossCheckResult(tuple(results), seed, environment(others))


def _some(view: LayerView, number: int, limit: int, seed: int) -> Iterator[Case]:
    """Every other case, all on as many threads, for a runtime loads a model anew for another number of them. Only of one layer
    in UNSAFE those with indices out of bounds: after most of them a runtime needs a new process."""
    cases = [case for case in designed(view, len(DESIGNS), seed) if number % UNSAFE == 0 or not case.out_of_bounds]
    return islice((replace(case, threads=1 + number % 2) for case in cases[number // UNSAFE % 2 :: 2]), limit)


def _expected_outputs(path: str) -> Mapping[str, Any]:
    if not path or not (file := Path(path).with_suffix(".expected.json")).is_file():
        return {}
    try:
        values = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{file}: must be an object that gives the values for each layer name")
    return values

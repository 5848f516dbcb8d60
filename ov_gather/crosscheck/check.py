"""The cross-check of one IR: every gather-family layer in designed cases, and the model with our gathers beside stock OpenVINO.

A layer of a model is also executed on the operands that it has in the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ov_gather.crosscheck.cases.designed import DEFAULT_CASES, DEFAULT_SEED, as_cases, check_given, designed
from ov_gather.crosscheck.environment import environment
from ov_gather.crosscheck.expected import read_expected
from ov_gather.crosscheck.layers import Job, LayerChecks
from ov_gather.crosscheck.models.ir import ModelRun, has_several_layers
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.reduce import Reducer
from ov_gather.crosscheck.results import CrossCheckResult
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, WeightsSource, read_ir
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import RUNTIMES, borrowed


def cross_check(
    source: Source | Model,
    inputs: Sequence[ArrayLike] | None = None,
    *,
    weights: WeightsSource = None,
    runtimes: Sequence[str] = ("kernel", "openvino"),
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_CASES,
    device: str = CPU,
    failures: Path | None = None,
    progress: Progress | None = None,
) -> CrossCheckResult:
    """Execute each gather-family layer, isolated from its graph, on several runtimes, and compare with the NumPy reference.

    If "openvino" is among them and the IR has more than one layer to execute, the model is executed, too, on made-up inputs:
    each layer gets one more case, the operands that it has in the model, and the outputs of the model with our gathers must be
    those without.

    Args:
        source: what `read_ir` takes, or what it returns. Beside `x.xml`, a file `x.expected.json` ({layer name: values}) with
            the outputs of layers whose inputs are all constant is compared, too.
        weights: path or bytes of the .bin, where it does not stand beside the .xml.
        inputs: the inputs of the only layer that are not constant, in order; designed cases if not given.
        runtimes: some of "kernel", "openvino", "extension" (OpenVINO with our operations) and "onnxruntime".
        seed: for the designed cases, and for the inputs of the model.
        cases: the most cases that a layer gets.
        device: where OpenVINO executes: a name such as "CPU", "AUTO", "HETERO:CPU" or "BATCH:CPU".
        failures: the directory to which the first failing case of each layer is written, as small as can be, to be run again.
        progress: is told of each layer that is done.

    Returns:
        A result with `.passed`, `.divergences` and `.table()`.

    Raises:
        IRError: the document cannot be read.
        TypeError, ValueError: a runtime or the device is unknown; `inputs` do not fit the layer, or are given for a source
            with several.
        FileNotFoundError, ImportError: a runtime is not installed.
    """
    for name in runtimes:
        if name not in RUNTIMES:
            raise ValueError(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    if not runtimes or cases < 1:
        raise ValueError("there must be a runtime and a case at least")
    with borrowed(runtimes, device) as others:  # they start while the document is read
        model = source if isinstance(source, Model) else read_ir(source, weights)
        views = [view for _, graph in model.walk() for view in family_layers(graph)]
        if inputs is not None and len(views) != 1:
            raise ValueError(f"inputs are given, but there are {len(views)} gather-family layers")
        given = None if inputs is None else [np.asarray(array) for array in inputs]
        if given is not None:
            check_given(isolate(views[0]), given)
        expected = read_expected(model.path)
        make = partial(designed, limit=cases, seed=seed) if given is None else lambda view: as_cases(given)
        progress = progress or Progress()
        progress.begin(model.path, len(views), seed)
        run = ModelRun(model, seed, device) if given is None and "openvino" in runtimes and has_several_layers(model) else None
        with LayerChecks(others, Reducer(failures, device) if failures else None) as checks:
            progress.watch(checks.lanes)
            start = 0
            for own in run.own_cases(views) if run else [[None] * len(views)]:
                some = views[start : start + len(own)]
                jobs = [Job(view, make, case, expected.get(view.layer.name)) for view, case in zip(some, own, strict=True)]
                for position, layer in checks.run(jobs):
                    progress.add(start + position, layer)
                start += len(own)
        layers = progress.layers
        outputs = run.outputs(views, layers) if run else ()
        return CrossCheckResult(layers, seed, environment(others), outputs, run.not_run if run else "")

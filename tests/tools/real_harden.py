"""Harden real IRs and run them: `python tests/tools/real_harden.py DIRECTORY [NAME...] [--time]`.

DIRECTORY is an output of `tests/tools/real_irs.py`. For each IR and policy, prints the number of gathers and scatters with
computed indices, the number of guards, whether outputs for the example inputs are the same bit by bit in f32, and how often
integers out of bounds crash the process. The first line of an IR is the original model. --time adds the CPU time relative to
the original model.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import openvino as ov

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

import ov_gather
from helpers.hardening import CRASHED, RAISED, crashed, infer_model
from helpers.worker_process import call_each
from ov_gather.acceleration.graph import is_constant_foldable, walk
from ov_gather.ranges.sites import TYPES

POLICIES = ("", "raise", "portable", "clamp", "zero")
OUTLIERS = (100_000, -1_000_000, 2**31 - 1, -(2**31))
TURNS, SECONDS_OF_A_TURN = 40, 0.02


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    irs = [path for path in sorted(options.directory.glob("*/*.xml")) if not options.names or name_of(path) in options.names]
    total, failures = Counter(), 0
    for path in irs:
        before = None
        for policy in POLICIES:
            (result,) = call_each(same_inputs, [(path, policy)], crashed)
            if result == CRASHED:
                print(path.stem, path.parent.name, policy, CRASHED)
                failures += bool(policy)
                continue
            computed, guards, seconds, outputs = result
            before = outputs if not policy else before
            outliers = [(path, policy, *one) for one in product(OUTLIERS, (False, True))]
            ends = Counter(call_each(outlier, outliers, crashed))
            ratio = f"time {compare(path, policy):.3f}" if options.time and policy else ""
            said = "same" if outputs == before else "DIFFERENT"
            failures += bool(policy) and (outputs != before or CRASHED in ends)
            total[path.parent.name, policy or "computed"] += guards if policy else computed
            print(
                path.stem,
                path.parent.name,
                policy or "-",
                computed,
                guards,
                f"{seconds:.2f} s",
                said,
                dict(ends),
                ratio,
                flush=True,
            )
    for (shapes, policy), number in sorted(total.items()):
        print(shapes, policy, number, f"{number / max(1, total[shapes, 'computed']):.1%}")
    return failures > 0


def name_of(path: Path) -> str:
    return path.name.partition(".")[0]


def hardened(path: Path, policy: str):
    """Return the model, its number of computed indices, the number of guards, and the seconds of hardening."""
    model = ov_gather.register(ov.Core()).read_model(path)
    sites = [node for _, node in walk(model) if node.get_type_name() in TYPES]
    computed = sum(not is_constant_foldable([node.input_value(1)]) for node in sites)
    if not policy:
        return model, computed, 0, 0.0
    start = perf_counter()
    is_portable = policy == "portable"
    summary = ov_gather.harden(model, policy="raise" if is_portable else policy, portable=is_portable)
    return model, computed, summary.guards, perf_counter() - start


def example(path: Path, model: ov.Model) -> list[np.ndarray]:
    arrays = np.load(path.parent / f"{name_of(path)}.npz")
    found = [next((name for name in port.get_names() if name in arrays), None) for port in model.inputs]
    chosen = [arrays[name or arrays.files[position]] for position, name in enumerate(found)]
    return [array.astype(port.get_element_type().to_dtype()) for array, port in zip(chosen, model.inputs, strict=True)]


def same_inputs(item):
    path, policy = item
    model, computed, guards, seconds = hardened(path, policy)
    return computed, guards, seconds, infer_model(model, example(path, model))


def outlier(item):
    """Return the effect of an integer out of bounds in every integer input: crash, raise or go through.

    The last element, or all elements, get the value: in TAPAS, other columns than the last crash.
    """
    path, policy, value, is_everywhere = item
    model, *_ = hardened(path, policy)
    inputs = example(path, model)
    for array in inputs:
        if array.dtype.kind == "i" and array.size:
            array.flat[slice(None) if is_everywhere else -1] = value
    return RAISED if infer_model(model, inputs) == RAISED else "through"


def compare(path: Path, policy: str) -> float:
    """Return the CPU time of the hardened model relative to the original, on one thread: the median over turns.

    In each turn the hardened model runs between two originals, which cancels out other load.
    """
    core = ov_gather.register(ov.Core())
    properties = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    requests = []
    for one in ("", policy, ""):
        model, *_ = hardened(path, one)
        requests.append(core.compile_model(model, "CPU", properties).create_infer_request())
        for position, array in enumerate(example(path, model)):
            requests[-1].set_input_tensor(position, ov.Tensor(array))
    for request in requests:
        cpu_seconds(request, 3)
    count = 1 + int(SECONDS_OF_A_TURN / cpu_seconds(requests[0], 1))
    turns = [[cpu_seconds(request, count) for request in requests] for _ in range(TURNS)]
    return median(2 * ours / (before + after) for before, ours, after in turns)


def cpu_seconds(request, count: int) -> float:
    start = process_time()
    for _ in range(count):
        request.start_async()
        request.wait()
    return process_time() - start


if __name__ == "__main__":
    sys.exit(main())

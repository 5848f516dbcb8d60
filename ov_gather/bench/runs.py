"""Whole runs of a benchmark in new processes: where memory lies differs from run to run, and so does the speed of a contender.

A new process also gets what libraries only read as they are loaded: the number of threads, and the instruction set.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

from ov_gather.bench.cases import make
from ov_gather.bench.contenders import BenchConditions
from ov_gather.bench.measure import Measurement, measure
from ov_gather.system.imports import defer_imports

_PROGRAM = "import sys; sys.path[:] = {path!r}; from ov_gather.bench import runs; runs.main()"

_VARIABLES = ("ATEN_CPU_CAPABILITY", "TORCHINDUCTOR_CPP_MARCH", "ONEDNN_MAX_CPU_ISA", "XLA_FLAGS")
"""Limits on the instructions of torch and inductor, of inductor's compiler, of OpenVINO, and of JAX. onnxruntime has none."""
_LIMITS = {
    "baseline": ("default", "x86-64", "SSE41", "--xla_cpu_max_isa=SSE4_2"),
    "avx2": ("avx2", "x86-64-v3", "AVX2", "--xla_cpu_max_isa=AVX2"),
}
"""Value of OV_GATHER_ISA -> those of _VARIABLES. With any other value, all peers use what the CPU has."""


def environment(threads: int, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a run: the given one, and what limits the peers like our kernel."""
    limits = dict(zip(_VARIABLES, _LIMITS.get(given.get("OV_GATHER_ISA", ""), ()), strict=False))
    if "XLA_FLAGS" in limits:
        limits["XLA_FLAGS"] = f"{given.get('XLA_FLAGS', '')} {limits['XLA_FLAGS']}".strip()
    return {
        **given,
        **limits,
        "NPROC": str(threads),  # JAX's threads; the only way to limit them, besides an affinity
        "JAX_PLATFORMS": "cpu",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",  # no processes beside the one that is measured
    }


def run_once(names: Sequence[str], conditions: BenchConditions) -> Iterator[Measurement]:
    """Yield the measurement of each case, all in one new process.

    Raises ValueError like `measure`, MemoryError, RuntimeError if the process ends early.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(conditions.threads),
    ) as process:
        assert process.stdin and process.stdout
        try:
            with process.stdin:
                pickle.dump((names, conditions), process.stdin)
            for name in names:
                try:
                    result = pickle.load(process.stdout)
                except EOFError:
                    raise RuntimeError(f"{name}: the process of the benchmark ended with exit code {process.wait()}") from None
                if isinstance(result, Exception):
                    raise result
                yield result
        finally:
            process.kill()


def main() -> None:
    """Measure the cases named on stdin, and write pickled results to stdout; whatever libraries print there goes to stderr."""
    defer_imports()
    names, conditions = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as results:
        os.dup2(2, 1)
        for name in names:
            try:
                result: Measurement | Exception = measure(make(name, conditions.index_type), conditions)
            except (MemoryError, ValueError) as error:
                result = error
            pickle.dump(result, results)
            results.flush()

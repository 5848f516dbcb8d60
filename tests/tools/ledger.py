"""Write down what ov-gather says of many small models: `python tests/tools/ledger.py MODELS LEDGER`.

The folder MODELS is made if it does not exist: the samples, the reproducers of other software's faults, alone and inside larger
models, and the models of the package onnx. Each command runs on each model; LEDGER gets a file for each model, with what the
commands print, and hashes of the IRs that they write. `diff -r` of the ledgers of two states of ov-gather is what has changed.
For another state, run this file with the Python that has that state installed, on the same MODELS.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from subprocess import TimeoutExpired

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

import numpy as np
import onnx
import onnx.backend.test.loader
from rich.progress import track

from helpers.command_server import CommandServer

COMMANDS = {
    ".xml": (
        "validate MODEL --infer --format concise --verbose",
        "validate MODEL --infer --format concise --verbose --target 2024.6",
        "prove MODEL --format json",
        "accelerate MODEL -o MADE.xml",
        "harden MODEL -o MADE.xml --policy clamp",
        "check MODEL --runtimes kernel",
    ),
    ".onnx": (
        "convert MODEL -o MADE.xml --verbose",
        "convert MODEL -o MADE.xml --verbose --target extension --accelerate",
        "prove MODEL --format json",
    ),
}
"""The commands for models of each kind. MADE is in a temporary folder."""
PROCESSES = 2


def make_models(folder: Path) -> None:
    """Make the models that the commands run on."""
    from helpers.known_faults import EXPORTS, HOSTS, IN_ONNX, LIGHT, as_ir, met_by, onnx_of
    from helpers.paths import SAMPLES
    from helpers.small_architectures import ARCHITECTURES
    from ov_gather.plugin.register import KNOWN
    from tools.upstream.registry import FAULTS

    making = folder.with_name(f"{folder.name}.part")
    shutil.copytree(SAMPLES, making / "samples")
    for name in ("faults", "exports", "backend"):
        (making / name).mkdir()
    for known in KNOWN:
        as_ir(met_by(known.report), making / "faults" / f"{known.report}.xml")
        for host in HOSTS:
            as_ir(host(met_by(known.report)), making / "faults" / f"{known.report}.{host.__name__}.xml")
        if known.report in IN_ONNX or "text = " in FAULTS[known.report].source:
            onnx.save(onnx_of(known.report), making / "faults" / f"{known.report}.onnx")
    for name in EXPORTS:
        shutil.copy(LIGHT / f"{name}.onnx", making / "exports")
    for name, make in ARCHITECTURES.items():
        onnx.save(make(np.random.default_rng(0))[0], making / "exports" / f"{name}.onnx")
    for case in backend_cases():
        model = case.model or onnx.load(Path(case.model_dir, "model.onnx"))
        onnx.save(model, making / "backend" / f"{case.name}.onnx")
    making.rename(folder)


def backend_cases() -> Iterator[onnx.backend.test.loader.TestCase]:
    """Yield ONNX's own tests that need no download."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the generators of some operators divide by zero on purpose
        for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
            yield from onnx.backend.test.loader.load_model_tests(kind=kind)


def said_of(model: Path, folder: Path, servers: SimpleQueue[CommandServer]) -> Iterator[str]:
    """Yield what each command prints of a model, and hashes of what it writes."""
    for command in COMMANDS[model.suffix]:
        yield f"$ ov-gather {command}\n"
        with tempfile.TemporaryDirectory() as made:
            named = command.replace("MODEL", str(model.relative_to(folder))).replace("MADE", f"{made}/made")
            server = servers.get()
            try:
                done = server.run(named.split(), cwd=folder)
                yield (done.stdout + done.stderr).replace(made, "") + f"exit code {done.returncode}\n"
            except TimeoutExpired:
                yield "it takes too long\n"
            servers.put(server)
            for file in sorted(path for path in Path(made).iterdir() if path.is_file()):
                yield f"{file.name}: {hashlib.sha256(file.read_bytes()).hexdigest()[:16]}\n"


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, ledger = (Path(argument).absolute() for argument in sys.argv[1:])
    if not folder.exists():
        make_models(folder)
    models = sorted(path for suffix in COMMANDS for path in folder.rglob(f"*{suffix}"))

    def write(model: Path) -> None:
        file = (ledger / model.relative_to(folder)).with_name(f"{model.name}.txt")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(said_of(model, folder, servers)))

    servers = SimpleQueue[CommandServer]()
    with ThreadPoolExecutor(PROCESSES) as pool:
        for _ in range(PROCESSES):
            servers.put(CommandServer().__enter__())
        for _ in track(pool.map(write, models), "models", total=len(models)):
            pass
    while not servers.empty():
        servers.get().__exit__()


if __name__ == "__main__":
    main()

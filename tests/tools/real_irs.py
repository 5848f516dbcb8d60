"""Export real architectures with random weights to IRs: `python tests/tools/real_irs.py OUT_DIR [NAME...]`.

Each takes two routes, via ONNX and by OpenVINO's PyTorch front end, with static shapes and with dynamic batch and sequence:
OUT_DIR/static/ and OUT_DIR/open/ get NAME.onnx-route.xml, NAME.torch-route.xml, and inputs in NAME.npz. Existing files are
skipped. OUT_DIR/INDEX.txt records how each was made and its gathers and scatters, or why it failed. Downloads nothing. Needs
`.[models]`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from ov_gather.system.files import replacing
from tools.architectures.export import path_of, work
from tools.architectures.routes import ROUTES, SHAPES
from tools.architectures.table import ARCHITECTURES

PROCESSES = multiprocessing.get_context("forkserver")
WORKERS = 3
LIMIT = 900
"""Time limit for one IR, in seconds."""
COLUMNS = ("name", "shapes", "route", "way", "saved", "folded", "computed", "seconds", "failure")
HEAD = """# saved, folded: gathers and scatters in the file and after constant folding
# computed: those of the latter whose indices are no constant
# way: how the model was made; reshape: by reshaping the static IR
"""


class Index:
    """The table of results of all IRs, kept between runs."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        rows = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines if not line.startswith("#")]
        self.rows = {(row["name"], row["shapes"], row["route"]): row for row in rows if row["name"] in ARCHITECTURES}

    def has(self, out: Path, name: str, shapes: str, route: str) -> bool:
        """Return True if an IR exists and is in the table."""
        return path_of(out, name, shapes, route).exists() and bool(self.rows.get((name, shapes, route), {}).get("way"))

    def add(self, record: dict[str, Any]) -> None:
        """Record the result of one IR, and write the table."""
        row = {key: str(record.get(key, "")) for key in COLUMNS}
        with self.lock:
            self.rows[row["name"], row["shapes"], row["route"]] = row
            print(*row.values(), sep="  ", flush=True)
            with replacing(self.path) as file:
                file.write((HEAD + "# " + "\t".join(COLUMNS) + "\n").encode())
                file.writelines("\t".join(row.values()).encode() + b"\n" for _, row in sorted(self.rows.items()))


def export(out: Path, name: str, index: Index) -> None:
    """Export the missing IRs of one architecture; a process that crashes or hangs fails only its current IR."""
    jobs = [(shapes, route) for shapes in SHAPES for route in ROUTES if not index.has(out, name, shapes, route)]
    while jobs:
        receiver, sender = PROCESSES.Pipe(duplex=False)
        worker = PROCESSES.Process(target=work, args=(sender, out, name, jobs))
        worker.start()
        sender.close()
        failure = ""
        while jobs and not failure:
            try:
                record = receiver.recv() if receiver.poll(LIMIT) else {"failure": f"no answer within {LIMIT} s"}
            except EOFError:
                worker.join()
                record = {"failure": f"the process ended with {worker.exitcode}"}
            shapes, route = jobs.pop(0)
            index.add({"name": name, "shapes": shapes, "route": route, **record})
            failure = "" if "shapes" in record else record["failure"]
        worker.kill() if failure else worker.join()


def main() -> None:
    """Export the named architectures, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", choices=[[], *ARCHITECTURES], metavar="NAME", help=f"of {', '.join(ARCHITECTURES)}")
    arguments = parser.parse_args()
    for shapes in SHAPES:
        (arguments.directory / shapes).mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])  # for the fork server, which imports everything once
    PROCESSES.set_forkserver_preload(["tools.architectures.export", "torch.onnx", "torch.export", "torch._dynamo"])
    index = Index(arguments.directory / "INDEX.txt")
    with ThreadPoolExecutor(WORKERS) as pool:
        for _ in pool.map(lambda name: export(arguments.directory, name, index), arguments.names or ARCHITECTURES):
            pass


if __name__ == "__main__":
    main()

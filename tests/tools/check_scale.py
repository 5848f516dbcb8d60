"""Measure `ov-gather check` on models of many gathers: `python tests/tools/check_scale.py [LAYERS]`, by default 1,000.

One model has distinct GatherElements, the other has the same layer many times. Each is checked on all installed runtimes, with
an HTML page. Prints wall-clock time, CPU time of all processes, peak memory of one process, and the size of the page.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from command_costs import cost_of

from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

COMMAND = Path(sys.executable).with_name("ov-gather")


def many(path: Path, layers: int, *, distinct: bool) -> None:
    """Write a model of GatherElements without common operands; distinct ones have different sizes or axes."""
    builder = ModelBuilder("many")
    for i in range(layers):
        rows, columns = (2 + i // 2 % 25, 3 + i // 50) if distinct else (8, 8)
        shape = PartialShape.of([rows, columns])
        inputs = [builder.parameter(f"data_{i}", F32, shape), builder.parameter(f"indices_{i}", I64, shape)]
        axis = {"axis": str(i % 2) if distinct else "1"}
        builder.result(f"y_{i}", builder.layer("GatherElements", f"gather_{i}", "opset6", axis, inputs, [(F32, shape)])[0])
    write_ir(builder.build(), path)


def opened(page: Path, chromium: str) -> float:
    """Return the seconds in which a browser loads a page, the minimum of three times."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        tab = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        loaded: list[float] = []
        for _ in range(3):
            tab.goto(page.as_uri())
            loaded.append(tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
        return min(loaded) / 1000


def measure(path: Path) -> None:
    """Check one model, and print its cost."""
    page = path.with_suffix(".html")
    cost = cost_of(COMMAND, "check", path, "--report", page, directory=path.parent)
    print(
        f"{path.stem}: exit code {cost.exit_code}, {cost.seconds:.1f} s, {cost.processor:.1f} s of processor time on "
        f"{len(os.sched_getaffinity(0))} cores, {cost.megabytes:.0f} MB at most in one process, "
        f"page of {page.stat().st_size / 1e6:.2f} MB"
    )
    if (chromium := which("chromium")) is not None:
        print(f"    Chromium has opened the page after {opened(page, chromium):.2f} s", flush=True)
    print("   ", "\n    ".join(cost.output.splitlines()[-3:]), flush=True)


if __name__ == "__main__":
    with TemporaryDirectory() as directory:
        for kind in ("distinct", "identical"):
            model = Path(directory, f"{kind}.xml")
            many(model, int(sys.argv[1]) if len(sys.argv) > 1 else 1000, distinct=kind == "distinct")
            measure(model)

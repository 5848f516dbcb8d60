"""Measure `ov-gather check` on models of `--layers` gathers, on all installed runtimes, with an HTML page.

One model has distinct GatherElements, the other has the same layer many times. Chromium opens the pages if it is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir
from tools.measurements.costs import OV_GATHER, cost_of

COLUMNS = ("layers", "exit code", "time", "CPU time", "memory of one process", "page", "opened after")


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


def opened(page: Path) -> str:
    """Return the time in which a browser loads a page, the minimum of three times."""
    chromium = which("chromium")
    if chromium is None:
        return "no Chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        tab = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        loaded: list[float] = []
        for _ in range(3):
            tab.goto(page.as_uri())
            loaded.append(tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
        return f"{min(loaded) / 1000:.2f} s"


def measure(*, layers: int = 1000) -> Iterator[tuple[object, ...] | str]:
    with TemporaryDirectory() as directory:
        for kind in ("distinct", "identical"):
            model, page = Path(directory, f"{kind}.xml"), Path(directory, f"{kind}.html")
            many(model, layers, distinct=kind == "distinct")
            cost = cost_of(OV_GATHER, "check", model, "--report", page, directory=model.parent)
            costs = (f"{cost.seconds:.1f} s", f"{cost.processor:.1f} s", f"{cost.megabytes:.0f} MB")
            yield kind, cost.exit_code, *costs, f"{page.stat().st_size / 1e6:.2f} MB", opened(page)

"""Draw the plots of the pages from stored results: python tests/tools/docs_site/plots.py

Needs matplotlib: pip install ".[plots]". Each plot is one SVG that follows the colour scheme of its reader, light or dark. It
names the hash of the results that it shows, and a test compares that with the results of today.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from ov_gather.divergences.register import DIVERGENCES
from tools.docs_site import divergences
from tools.sessions import ROOT

EVIDENCE = ROOT / "docs" / "evidence"
PLOTS = EVIDENCE / "plots"
PEERS = ("torch", "torch.compile", "jax.jit", "jax.jit unchecked", "onnxruntime", "numpy", "openvino")
STATUSES = ("proved", "conditional on dimensions alone", "conditional on inputs", "unknown", "refuted")

INK, SOFT, PAPER = "#1f2328", "#d1d9e0", "#ffffff"
DARK = {INK: "#f0f6fc", SOFT: "#3d444d", PAPER: "#0d1117"}
COLOURS = ("#0072b2", "#56b4e9", "#e69f00", "#7f5200", "#cc79a7", "#009e73", "#d55e00")  # told apart by the colour-blind, too

Results = dict[str, Any]


def speeds() -> Results:
    """Return the times of peers divided by ours on two threads, by case: the first table of the benchmarks."""
    table = re.search(r"```text\n(.*?)```", (EVIDENCE / "benchmarks.md").read_text(), re.S)[1]
    rows = (re.split(r"\s{2,}|(?<=%)\s+", line.strip()) for line in table.splitlines() if re.match(r" \w+ +[\d.]+ +", line))
    return {row[0]: [float(cell.split()[0]) if cell != "-" else None for cell in row[2 : 2 + len(PEERS)]] for row in rows}


def summary(results: Results) -> list[str]:
    """Return what the page on benchmarks says first: for each peer of `speeds`, how often and how much ours is faster."""
    ratios = {peer: [row[place] for row in results.values() if row[place] is not None] for place, peer in enumerate(PEERS)}
    parts = {
        peer: f"{sum(ratio > 1 for ratio in found)} of {len(found)} cases ({median(found):.1f} times)"
        for peer, found in ratios.items()
    }
    kernel = ", ".join(f"{peer} in {parts[peer]}" for peer in PEERS if peer != "openvino")
    least = min(ratios["openvino"])
    return [
        f"With two threads our kernel is faster than {kernel}; in parentheses is the median.",
        f"In an inference, our operation is faster than OpenVINO's own in {parts['openvino']}; the least ratio is {least:.2f}.",
    ]


def releases() -> Results:
    """Return how often each release of OpenVINO showed each divergence."""
    cells = {known.name: divergences.cells(known) for known in DIVERGENCES}
    return {name: row for name, row in cells.items() if any(cell[:1].isdigit() for cell in row)}


def proofs() -> Results:
    """Return the number of sites of each status, by architecture with open shapes: the second table of the page on proofs."""
    page = (EVIDENCE / "proved_models.md").read_text().partition("\n## Open")[2]
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", page, re.M)
    return {name: [int(count) for count in counts] for name, *counts in rows}


def fingerprint(results: Results) -> str:
    """Return the hash of results that a plot of them names."""
    return hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest()[:16]


def _draw_speeds(plt: Any, results: Results) -> None:
    _, axes = plt.subplots(figsize=(9, 0.2 * len(results) + 1.2))
    for place, name in enumerate(results):
        axes.axhline(place, color=SOFT, linewidth=0.5, zorder=0)
        for peer, ratio in enumerate(results[name]):
            if ratio is not None:
                axes.plot(ratio, place, "o", color=COLOURS[peer], markersize=4.5, label=PEERS[peer] if place == 0 else None)
    axes.axvline(1, color=INK, linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20, 50, 100], ["0.5", "1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.set_yticks(range(len(results)), list(results))
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_xlabel("time of a peer divided by ours: ours is faster to the right of 1")
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=len(PEERS), columnspacing=1, handletextpad=0.1)


def _draw_releases(plt: Any, results: Results) -> None:
    _, axes = plt.subplots(figsize=(9, 0.26 * len(results) + 0.8))
    for row, cells in enumerate(results.values()):
        for column, cell in enumerate(cells):
            shown, of = map(int, cell.strip("()").split("/")) if cell else (0, 1)
            alpha = 0.0 if not cell or cell.startswith("(") else 0.2 + 0.75 * shown / of
            axes.add_patch(plt.Rectangle((column, row), 0.94, 0.9, color=COLOURS[6], alpha=alpha, linewidth=0))
            axes.text(column + 0.47, row + 0.48, cell, ha="center", va="center", fontsize=7)
    axes.set_xlim(0, len(divergences.RELEASES))
    axes.set_ylim(len(results), 0)
    axes.set_xticks([column + 0.47 for column in range(len(divergences.RELEASES))], divergences.RELEASES, fontsize=8)
    axes.set_yticks([row + 0.45 for row in range(len(results))], list(results))
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_proofs(plt: Any, results: Results) -> None:
    _, axes = plt.subplots(figsize=(9, 0.17 * len(results) + 1.2))
    colours = (COLOURS[5], COLOURS[1], COLOURS[0], SOFT, COLOURS[6])
    for place, counts in enumerate(results.values()):
        left = 0.0
        for status, count in enumerate(counts):
            width = 100 * count / sum(counts)
            axes.barh(place, width, 0.8, left, color=colours[status], label=STATUSES[status] if place == 0 else None)
            left += width
    axes.set_yticks(range(len(results)), list(results), fontsize=8)
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("gathers and scatters of the model, in percent")
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=len(STATUSES), columnspacing=1, handlelength=1)


DRAWN: dict[str, tuple[Callable[[], Results], Callable[[Any, Results], None]]] = {
    "speeds": (speeds, _draw_speeds),
    "releases": (releases, _draw_releases),
    "proofs": (proofs, _draw_proofs),
}


def main() -> None:
    """Draw all plots."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    colours = dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    pyplot.rcParams.update(
        colours | {"svg.fonttype": "none", "svg.hashsalt": "ov-gather", "font.size": 9, "legend.frameon": False}
    )
    pyplot.rcParams.update({"font.family": "sans-serif", "axes.spines.top": False, "axes.spines.right": False})
    PLOTS.mkdir(exist_ok=True)
    for name, (results_of, draw) in DRAWN.items():
        results, text = results_of(), io.StringIO()
        draw(pyplot, results)
        metadata = {"Date": None, "Creator": None, "Description": f"results: {fingerprint(results)}"}
        pyplot.savefig(text, format="svg", bbox_inches="tight", facecolor=PAPER, metadata=metadata)
        (PLOTS / f"{name}.svg").write_text(_with_schemes(text.getvalue()))


def _with_schemes(text: str) -> str:
    """Return an SVG whose colours of text, lines and paper follow the scheme of the reader."""
    rules = [
        f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}' for light, dark in DARK.items() for kind in ("fill", "stroke")
    ]
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    lines = (line.rstrip() for line in text.replace("<defs>", f"{style}\n<defs>", 1).splitlines())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

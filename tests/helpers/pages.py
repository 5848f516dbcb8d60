"""Pages in Chromium: where it is, and what is measured of a page in it."""

import os
import shutil
from pathlib import Path

from helpers.paths import ROOT

CHROMIUM = shutil.which("chromium")
AXE = Path(os.environ.get("AXE_CORE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
"""The script of axe-core, a checker of accessibility: `npm install --no-save axe-core` puts it there."""

SERIOUS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.length} such as ${nodes[0].html}`);
}"""
"""The findings of axe-core that are serious."""

LOWEST_CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const numbers = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (rgb) => {
    const linear = (channel) => channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.slice(0, 3).map((channel) => linear(channel / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = numbers(getComputedStyle(element).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    throw new Error("nothing opaque behind");
  };
  const contrast = (element) => {
    const [a, b] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  document.querySelectorAll("details").forEach((details) => (details.open = true));
  const texts = [...document.querySelectorAll("main *")].filter(
    (element) => element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()),
  );
  const lowest = texts.reduce((a, b) => (contrast(a) < contrast(b) ? a : b));
  return [contrast(lowest), lowest.className + ": " + lowest.textContent.slice(0, 40), texts.length];
}"""
"""The lowest contrast, by the formula of WCAG 2, of elements that have text of their own against what lies behind them."""

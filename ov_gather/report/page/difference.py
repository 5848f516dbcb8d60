"""A difference between two outputs: the first one, the number, a picture of positions, and a histogram of sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ov_gather.crosscheck.deviation import Deviation, far_off
from ov_gather.crosscheck.results import Difference
from ov_gather.report.elements import Element, element
from ov_gather.report.page.skeleton import fact_list, row

_SHADES = 4  # number of shades in a picture
_FIELD = 14  # width of a grid cell in pixels


def difference_section(difference: Difference, deviation: Deviation | None = None) -> Element:
    """Return both values at the first difference, the number and sizes of differences, and a picture of their positions."""
    facts = {
        "first difference": f"output[{', '.join(map(str, difference.position))}]",
        "expected": difference.expected,
        "found": difference.found,
        "elements that differ": f"{difference.count:,} of {difference.size:,} ({difference.count / difference.size:.1%})",
        "how far off": far_off(deviation),
    }
    caption = "The output as rows, its last dimension across. The stronger the colour, the more elements differ."
    picture = element("figure", _picture(difference.picture), element("figcaption", caption))
    return element("div", fact_list(facts, "values"), picture, *_histogram(difference), class_="difference")


def _histogram(difference: Difference) -> Iterator[Element]:
    """Yield a bar for each range of differences."""
    if difference.magnitudes:
        most = max(count for _, count in difference.magnitudes)
        rows = (
            row(
                element("th", words, scope="row"),
                element("td", element("span", style=f"width: {count / most:.1%}"), class_="time"),
                f"{count:,}",
            )
            for words, count in difference.magnitudes
        )
        caption = element("caption", "Elements that differ, by how far they are off.")
        yield element("table", caption, element("tbody", *rows), class_="times histogram")


def _picture(fields: Sequence[Sequence[float]]) -> Element:
    """Return the grid as SVG, with a single path per shade to keep it small."""
    paths = []
    for shade in range(1, _SHADES + 1):
        strokes = [
            f"M{x} {y}h1v1h-1z"
            for y, row in enumerate(fields)
            for x, share in enumerate(row)
            if share and min(_SHADES, int(share * _SHADES) + 1) == shade
        ]
        if strokes:
            paths.append(element("path", d="".join(strokes), fill_opacity=f"{0.25 + 0.75 * shade / _SHADES:.2f}"))
    columns, rows = len(fields[0]), len(fields)
    touched = sum(1 for row in fields for share in row if share)
    return element(
        "svg",
        *paths,
        viewBox=f"0 0 {columns} {rows}",
        style=f"width: {columns * _FIELD}px",
        class_="picture",
        role="img",
        aria_label=f"in {touched} of {columns * rows} fields of the output",
    )

"""Drawing of an excerpt of a graph as SVG: boxes in layers, from what feeds a node to the node itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ov_gather.graph.excerpts import Excerpt, ExcerptEdge, ExcerptNode
from ov_gather.report.elements import Element, element

_HEIGHT = 62
_GAP = 16  # between boxes of one layer
_LAYERS = 84, 34  # between layers: across, where labels stand, and downwards
_MARGIN = 6
_WIDTHS = 212, 400  # of a box: across and downwards
_MAX_NOTE = 200  # letters of a note in a sentence; bounds of hostile documents may be longer
_LETTER = 6.4  # width of a letter, on average


def graph(excerpt: Excerpt, caption: str, *, downwards: bool = False) -> Element:
    """Return a figure. Edges lead from left to right, or downwards, where there is more room for notes."""
    depths = _depths(excerpt)
    layers: dict[int, list[int]] = {}
    for number, depth in enumerate(depths):
        layers.setdefault(depth, []).append(number)
    places = _places(layers, downwards)
    width = max(x for x, _ in places.values()) + _WIDTHS[downwards] + _MARGIN
    height = max(y for _, y in places.values()) + _HEIGHT + _MARGIN
    incoming: dict[int, list[ExcerptEdge]] = {}
    for edge in excerpt.edges:
        incoming.setdefault(edge.target, []).append(edge)
    arrows = [
        _arrow(edge, places, (i + 1) / (len(edges) + 1), downwards)
        for edges in incoming.values()
        for i, edge in enumerate(edges)
    ]
    boxes = (_box(node, *places[number], _WIDTHS[downwards]) for number, node in enumerate(excerpt.nodes))
    drawn = element(
        "svg",
        *(part for arrow in arrows for part in arrow),
        *boxes,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        aria_label=_in_words(excerpt),
        class_="graph",
    )
    scroll = element("div", drawn, class_="scroll", tabindex="0", role="group", aria_label=f"graph of {excerpt.nodes[0]}")
    return element("figure", scroll, element("figcaption", caption), class_="graph-figure")


def _depths(excerpt: Excerpt) -> Sequence[int]:
    """Return the length of the longest way from each node to the first one. A broken model may have cycles, which end it."""
    depths = [0] * len(excerpt.nodes)
    for _ in excerpt.nodes:
        for edge in excerpt.edges:
            depths[edge.source] = min(max(depths[edge.source], depths[edge.target] + 1), len(depths))
    return depths


def _places(layers: Mapping[int, Sequence[int]], downwards: bool) -> dict[int, tuple[float, float]]:
    """Return the upper left corner of each box. Layers are centred."""
    across = (_HEIGHT + _GAP, _WIDTHS[1] + _GAP)[downwards]
    along = (_WIDTHS[0] + _LAYERS[0], _HEIGHT + _LAYERS[1])[downwards]
    largest = max(map(len, layers.values()))
    found: dict[int, tuple[float, float]] = {}
    for rank, depth in enumerate(sorted(layers, reverse=True)):
        start = _MARGIN + (largest - len(layers[depth])) * across / 2
        for i, number in enumerate(layers[depth]):
            place = _MARGIN + rank * along, start + i * across
            found[number] = (place[1], place[0]) if downwards else place
    return found


def _arrow(edge: ExcerptEdge, places: Mapping[int, tuple[float, float]], share: float, downwards: bool) -> list[Element]:
    """Return a line, its head, and its label. It ends at this share of the side of the target."""
    (x, y), (end_x, end_y) = places[edge.source], places[edge.target]
    if downwards:
        x, y, end_x = x + _WIDTHS[1] / 2, y + _HEIGHT, end_x + share * _WIDTHS[1]
        middle = (y + end_y) / 2
        line = f"M{x:g} {y:g}C{x:g} {middle:g} {end_x:g} {middle:g} {end_x:g} {end_y:g}"
        head, label = f"M{end_x:g} {end_y:g}l-4 -7h8z", (end_x + 8, end_y - 9)
    else:
        x, y, end_y = x + _WIDTHS[0], y + _HEIGHT / 2, end_y + share * _HEIGHT
        middle = (x + end_x) / 2
        line = f"M{x:g} {y:g}C{middle:g} {y:g} {middle:g} {end_y:g} {end_x:g} {end_y:g}"
        head, label = f"M{end_x:g} {end_y:g}l-7 -4v8z", (end_x - 10, end_y - 4)
    made = [element("path", d=line, class_="edge"), element("path", d=head, class_="head")]
    if edge.label:
        anchor = "start" if downwards else "end"
        made.append(
            element("text", _cut(edge.label, 80), x=f"{label[0]:g}", y=f"{label[1]:g}", text_anchor=anchor, class_="label")
        )
    return made


def _box(node: ExcerptNode, x: float, y: float, width: float) -> Element:
    """Return a box. It is an `svg` of its own, which cuts off what is too wide."""
    lines = (("type", node.type), ("name", node.name), ("note", node.note))
    texts = (
        element("text", _cut(text, width - 20), x="10", y=str(19 + 17 * i), class_=class_)
        for i, (class_, text) in enumerate((class_, text) for class_, text in lines if text)
    )
    frame = element("rect", x="1", y="1", width=f"{width - 2:g}", height=f"{_HEIGHT - 2}", rx="6")
    title = element("title", _with_note(node))
    size = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{_HEIGHT}"}
    return element("svg", title, frame, *texts, class_=f"node {node.mark}".rstrip(), **size)


def _cut(text: str, width: float) -> str:
    """Shorten a text to about this width, in the middle: both ends of names tell them apart."""
    most = int(width / _LETTER)
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def _in_words(excerpt: Excerpt) -> str:
    """Return the edges as a sentence."""
    nodes = excerpt.nodes
    parts = (
        f"{edge.label[:_MAX_NOTE] or 'an operand'} of {nodes[edge.target]} comes from {_with_note(nodes[edge.source])}"
        for edge in excerpt.edges
    )
    return "; ".join(parts) or f"nothing feeds {nodes[0]}"


def _with_note(node: ExcerptNode) -> str:
    return f"{node}: {node.note[:_MAX_NOTE]}" if node.note else str(node)

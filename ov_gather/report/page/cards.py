"""Cards that open and close, the form that filters them, and rows that the script unpacks when a card is opened."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lxml import etree

from ov_gather.report.elements import Element, element

WITH_CONTENT = 100
"""Above this number of cards, the content of closed ones is packed: it is about a tenth as large, and costs no layout."""

Packed = dict[int, str]
"""The HTML of closed cards, by number."""


def anchor(number: int) -> str:
    """Return the id of the content of a card: links to it open the card."""
    return f"card-{number}"


def card(
    number: int,
    heading: Sequence[Element],
    content: Iterable[Element],
    facts: Mapping[str, Iterable[str]],
    packed: Packed | None = None,
    *,
    is_open: bool = False,
) -> Element:
    """Return a card.

    Args:
        number: identity of the card on the page.
        heading: what is shown of a closed card.
        content: what is shown of an open card.
        facts: the values that the card has for each field of the form.
        packed: receives the content, for the script; None to put it into the page.
        is_open: whether it is open at first.
    """
    inner = list(content)
    if packed is not None:
        packed[number], inner = _html(inner), []
    made = element(
        "details",
        element("summary", *heading),
        element("div", *inner, class_="content", id=anchor(number)),
        class_="card",
        **data(facts),
    )
    if is_open:
        made.set("open", "open")
    return made


def data(facts: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the attributes with which the form finds a card: one value a line, like the values of its options."""
    return {f"data_{name}": "\n".join(map(one_line, values)) for name, values in facts.items()}


def one_line(text: str) -> str:
    r"""Escape line ends, which separate values, and name the empty text, which is that of any value, \\0."""
    return text.replace("\\", r"\\").replace("\n", r"\n") or r"\0"


def packing(packed: Packed) -> Iterator[Element]:
    """Yield the packed content for the script, and a note for readers without scripts; nothing if nothing is packed."""
    if packed:
        yield element("p", "What closed entries hold is shown by a script, because there are many.", class_="without-script")
        compressed = b64encode(zlib.compress(json.dumps(packed).encode(), 9)).decode()
        yield element("script", compressed, type="application/octet-stream", id="packed")


def filters(placeholder: str, fields: Mapping[str, Mapping[str, str]]) -> Element:
    """Return the form that filters cards, hidden until the script shows it.

    `fields` maps the name of each fact to its options: the value and the text of each. The first option is for any value. A
    field without a choice is left out.
    """
    selects = (
        element("label", name.capitalize(), _select(name, options)) for name, options in fields.items() if len(options) > 2
    )
    return element(
        "form",
        element("label", "Text", element("input", type="search", name="text", placeholder=placeholder)),
        *selects,
        element("button", "Expand all", type="button"),
        element("output", name="count", aria_live="polite"),
        class_="filters",
        hidden="hidden",
    )


def options(anything: str, values: Iterable[str]) -> dict[str, str]:
    """Return options with a first one for any value; each value is its own text."""
    return {"": anything} | {one_line(value): value for value in values}


def _select(name: str, choices: Mapping[str, str]) -> Element:
    return element("select", *(element("option", text, value=value) for value, text in choices.items()), name=name)


def _html(parts: Sequence[Element]) -> str:
    return "".join(etree.tostring(part, encoding="us-ascii", method="html").decode() for part in parts)

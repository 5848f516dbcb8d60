"""HTML as elements, so that whatever a name holds stays text; and the page around it, which needs nothing but itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from xml.etree.ElementTree import Element, tostring

from ov_gather.ir.errors import printable


def element(tag: str, *children: Element | str, **attributes: str) -> Element:
    """An element; of attributes, `class_` stands for class and `aria_label` for aria-label."""
    it = Element(tag, {name.rstrip("_").replace("_", "-"): _text(value) for name, value in attributes.items()})
    for child in children:
        if isinstance(child, Element):
            it.append(child)
        elif len(it):
            it[-1].tail = (it[-1].tail or "") + _text(child)
        else:
            it.text = (it.text or "") + _text(child)
    return it


def fact_list(facts: Mapping[str, str], class_: str = "facts") -> Element:
    """Names and what is known; what is not known is left out."""
    pairs = (element("div", element("dt", name), element("dd", fact)) for name, fact in facts.items() if fact)
    return element("dl", *pairs, class_=class_)


def table(label: str, headers: Iterable[str], rows: Iterable[Element]) -> Element:
    """A table that scrolls within itself where it is wider than the page."""
    head = element("tr", *(element("th", header, scope="col") for header in headers))
    body = element("table", element("thead", head), element("tbody", *rows))
    return element("div", body, class_="scroll", tabindex="0", role="group", aria_label=label)


def page(title: str, *body: Element) -> str:
    """One file. Its policy lets it load nothing, and run only our own script."""
    script = _resource("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", _resource("page.css")),
    )
    root = element("html", head, element("body", element("main", *body), element("script", script)), lang="en")
    return f"<!DOCTYPE html>\n{tostring(root, 'us-ascii', method='html').decode()}\n"


def _text(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def _resource(name: str) -> str:
    return files("ov_gather.report.check").joinpath(name).read_text(encoding="utf-8")

"""Skeleton of a self-contained HTML page, and its common elements."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from lxml import etree

from ov_gather.crosscheck.results import Environment
from ov_gather.report.elements import Element, element


def page(title: str, *body: Element) -> str:
    """Return the text of the page. Its security policy forbids loading anything, and allows our script only."""
    script = _resource("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", name="generator", content="ov-gather"),  # marks the page as one that a later run may replace
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", _resource("page.css")),
    )
    root = element("html", head, element("body", element("main", *body), element("script", script)), lang="en")
    text: bytes = etree.tostring(root, encoding="us-ascii", method="html", doctype="<!DOCTYPE html>")
    return text.decode() + "\n"


def header(command: str, verdict: str, class_: str, *lead: Element | str) -> Element:
    """Return the heading of a page: the command, its verdict, and a sentence, which may have links."""
    return element(
        "header",
        element("p", command, class_="kicker"),
        element("h1", verdict, class_=class_),
        element("p", *lead, class_="lead"),
    )


def environment_section(before: Mapping[str, str], environment: Environment, after: Mapping[str, str]) -> Element:
    """Return the section of what a run depended on, with facts of the command before and after."""
    facts = {
        **before,
        "ov-gather": version("ov-gather"),
        **environment.versions,
        "Python": environment.python,
        "CPU": environment.cpu,
        "cores": f"{environment.cores}",
        "system": environment.system,
        **after,
    }
    return element("section", element("h2", "Environment"), fact_list(facts))


def fact_list(facts: Mapping[str, str], class_: str = "facts") -> Element:
    """Return a list of names and facts, without empty facts."""
    pairs = (element("div", element("dt", name), element("dd", fact)) for name, fact in facts.items() if fact)
    return element("dl", *pairs, class_=class_)


def table(label: str, headers: Iterable[str], rows: Iterable[Element]) -> Element:
    """Return a table that scrolls horizontally if it is wider than the page."""
    head = element("tr", *(element("th", header, scope="col") for header in headers))
    body = element("table", element("thead", head), element("tbody", *rows))
    return element("div", body, class_="scroll", tabindex="0", role="group", aria_label=label)


def row(*cells: Element | str) -> Element:
    """Return a row of a table; a text becomes a cell."""
    return element("tr", *(element("td", cell) if isinstance(cell, str) else cell for cell in cells))


def _resource(name: str) -> str:
    return files("ov_gather.report.page").joinpath(name).read_text(encoding="utf-8")

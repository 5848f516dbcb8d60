"""A Sphinx extension: names of rules, divergences, commands and functions become links to their pages.

Pages write `OVG204`, `ov-gather prove` or `ov_gather.prove` as code, which reads well where there is no site. Docstrings write
code in single backticks, as Markdown does.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

from tools.docs_site import commands, divergences, python_api, rules

CODE = re.compile(r"`([^`]+)`")
COMMAND = re.compile(r"ov-gather ([a-z]+)")
FUNCTION = re.compile(r"ov_gather\.((?:converters\.)?\w+)(?:\(.*\))?$", re.S)


def setup(app: Sphinx) -> dict[str, object]:
    """Register the extension."""
    app.connect("doctree-resolved", _link_names)
    app.connect("autodoc-process-docstring", _mark_code, priority=1)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _link_names(app: Sphinx, tree: nodes.document, page: str) -> None:
    for literal in list(tree.findall(nodes.literal)):
        target = _page_of(literal.astext())
        if target in app.env.all_docs and target != page and not _is_in(literal, nodes.reference, nodes.title):
            literal.replace_self(make_refnode(app.builder, page, target, "", literal.deepcopy()))


def _mark_code(app: Sphinx, what: str, name: str, documented: object, options: object, lines: list[str]) -> None:
    lines[:] = CODE.sub(r"``\1``\\ ", "\n".join(lines)).split("\n")


def _is_in(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def _page_of(text: str) -> str:
    """Return the page on what a piece of code names; a page that is not there if it names nothing."""
    if found := COMMAND.match(text):
        return f"{commands.FOLDER}/{found[1]}"
    if found := FUNCTION.match(text):
        return f"{python_api.FOLDER}/{found[1]}"
    return f"{rules.FOLDER}/{text}" if text.startswith("OVG") else f"{divergences.FOLDER}/{text}"

"""Reference of the Python interface: a page for each public name, and for each class that one returns.

The pages hold directives; Sphinx puts the docstrings in their place.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import ov_gather
from tools.docs_site.markdown import Pages, fenced, page, table

FOLDER = "reference/python"


def public() -> dict[str, Any]:
    """Return all public objects by their names: those of `ov_gather`, and those of `ov_gather.converters`."""
    names = [name for name in ov_gather.__all__ if name != "converters" and not name.startswith("__")]
    converters = {f"converters.{name}": getattr(ov_gather.converters, name) for name in ov_gather.converters.__all__}
    return {name: getattr(ov_gather, name) for name in names} | converters


def pages() -> Pages:
    """Return the page of each public name, the pages of classes that are returned, and their list."""
    objects = public()
    returned = {each for found in objects.values() for each in _returned(found) if each not in objects.values()}
    classes = {each.__name__: each for each in sorted(returned, key=lambda each: each.__name__)}
    made = {_path(name): _page(f"ov_gather.{name}", name, found) for name, found in objects.items()}
    made |= {_path(name): _page(f"{each.__module__}.{name}", name, each) for name, each in classes.items()}
    index = ["# Python", "", "`import ov_gather` loads neither NumPy nor OpenVINO; each call loads what it needs.", ""]
    index += table(["name", ""], [(f"[`ov_gather.{name}`]({name}.md)", _summary(found)) for name, found in objects.items()])
    index += ["", "## What these return", ""]
    index += table(["class", ""], [(f"[`{name}`]({name}.md)", _summary(each)) for name, each in classes.items()])
    return {f"{FOLDER}/README.md": page(*index), **made}


def _path(name: str) -> str:
    return f"{FOLDER}/{name}.md"


def _page(full_name: str, name: str, found: object) -> str:
    directive = [f".. autofunction:: {full_name}"]
    if isinstance(found, type):
        directive = [f".. autoclass:: {full_name}", "   :members:"]
    return page(f"# `{name}`", "", *fenced(directive, "{eval-rst}"))


def _summary(found: object) -> str:
    return " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split()).replace("|", "\\|")


def _returned(found: Callable[..., object] | type) -> Iterator[type]:
    """Yield the classes of ours in the type that a function returns."""
    if isinstance(found, type):
        return
    words = re.findall(r"\w+", str(inspect.signature(found).return_annotation))
    for name, each in vars(inspect.getmodule(found)).items():
        if isinstance(each, type) and each.__module__.startswith("ov_gather") and name in words:
            yield each

"""SARIF 2.1.0 documents, for code scanning services and editors: the parts that all reports share."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ov_gather.ir.urls import is_url
from ov_gather.report import json
from ov_gather.system.site import site

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def document(rules: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]], **more: Any) -> str:
    """Return the text of a file with one run; `more` are further properties of the run."""
    driver = {"name": "ov-gather", "version": version("ov-gather"), "rules": rules}
    run = {"tool": {"driver": driver}, "invocations": [{"executionSuccessful": True}], "results": results, **more}
    return json.document({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def described(rule_id: str, name: str, summary: str, documentation: str, level: str, page: str) -> dict[str, Any]:
    """Return a rule with its documentation, and the address of its `page` on the site, if there is one.

    `name` has underscores, e.g. "missing_attribute".
    """
    return {
        "id": rule_id,
        "name": "".join(word.capitalize() for word in name.split("_")),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": documentation},
        "help": {"text": documentation},
        "defaultConfiguration": {"level": level},
    } | ({"helpUri": f"{site()}/{page}"} if site() else {})


def result(rule_id: str, index: int, level: str, text: str, location: dict[str, Any]) -> dict[str, Any]:
    """Return a result at a place; `index` is the position of its rule in the run."""
    return {
        "ruleId": rule_id,
        "ruleIndex": index,
        "level": level,
        "message": {"text": _without_links(text)},
        "locations": [location],
    }


def location(path: str, line: int, logical: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Return a place: the file, the line unless it is 0, and its logical locations."""
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}
    if line:
        place["physicalLocation"]["region"] = {"startLine": line}
    if logical:
        place["logicalLocations"] = logical
    return place


def _without_links(text: str) -> str:
    """Return the text, with brackets escaped if a part, such as a name, could be read as a link (SARIF 2.1.0, 3.11.6)."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", text) if "](" in text else text


def _uri(path: str) -> str:
    """Return the URI of a file: relative if it is below the working directory, which in CI is the repository, else absolute.

    A URL is returned quoted.
    """
    if is_url(path):
        return quote(path, safe=":/?&=%#@+,;~")
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links out of the repository
    directory = Path.cwd()
    if absolute.is_relative_to(directory):
        return quote(os.fsencode(absolute.relative_to(directory).as_posix()))
    return absolute.as_uri()

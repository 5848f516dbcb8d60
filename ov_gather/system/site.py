"""The address of the documentation."""

from __future__ import annotations

from functools import cache
from importlib.metadata import metadata


@cache
def site() -> str:
    """Return the address of the documentation; "" if the metadata of the package have none.

    It is `Documentation` in `[project.urls]` of pyproject.toml.
    """
    urls = (entry.partition(", ") for entry in metadata("ov-gather").get_all("Project-URL") or ())
    return next((url.rstrip("/") for label, _, url in urls if label.lower() == "documentation"), "")

"""The arrays `per-file-ignores` and `per-layer-ignores` of `[tool.ov_gather]`, which suppress findings with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ov_gather.rules.selection import select_rules

if TYPE_CHECKING:
    from ov_gather.rules.suppression import Ignore

_REQUIRED = ("rules", "reason")
_GLOBS: Mapping[str, tuple[str, ...]] = {"per-file-ignores": ("path",), "per-layer-ignores": ("layer", "type", "path")}
TABLES = tuple(_GLOBS)


def read_ignores(path: Path, table: Mapping[str, Any]) -> tuple[Ignore, ...]:
    """Return the entries of both arrays. Raises UsageError, which names the file and the entry."""
    return tuple(
        _ignore(path, f"{path}: [[tool.ov_gather.{key}]]", key, entry)
        for key in TABLES
        for entry in _entries(path, key, table.get(key, []))
    )


def _entries(path: Path, key: str, value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        return value
    raise click.UsageError(
        f"{path}: [tool.ov_gather] {key} must be an array of tables: write [[tool.ov_gather.{key}]] before each"
    )


def _ignore(path: Path, place: str, key: str, entry: Mapping[str, Any]) -> Ignore:
    from ov_gather.rules.suppression import Ignore

    globs = _GLOBS[key]
    for name, value in entry.items():
        if name not in (*_REQUIRED, *globs):
            raise click.UsageError(f"{place} {name} is unknown; there are {', '.join((*_REQUIRED, *globs))}")
        if name != "rules" and not (isinstance(value, str) and value):
            raise click.UsageError(f"{place} {name} must be a string, not {value!r}")
    missing = next((name for name in _REQUIRED if name not in entry), "")
    if missing or not entry.keys() & set(globs[:2]):
        raise click.UsageError(f"{place} {dict(entry)}: needs {missing or ' or '.join(globs[:2])}")
    rules = entry["rules"]
    if not (isinstance(rules, list) and rules and all(isinstance(rule, str) for rule in rules)):
        raise click.UsageError(f"{place} rules must be an array of rules and groups, not {rules!r}")
    try:
        select_rules(rules)
    except ValueError as error:
        raise click.UsageError(f"{place} {error}") from None
    return Ignore(tuple(rules), entry["reason"], path.parent, **{name: entry[name] for name in globs if name in entry})

"""The table `[tool.ov_gather]` of pyproject.toml: defaults of options, and ignores that suppress findings with a reason."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ov_gather.cli.options import Jobs
from ov_gather.cli.output import FileProblem

if TYPE_CHECKING:
    from ov_gather.rules.suppression import Ignore

_NAMES = {list: "an array of strings", bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
_TYPES: Mapping[type, type] = {Jobs: int, click.IntRange: int, click.FloatRange: float}
_BY_USERS_ONLY = ("force", "extension", "ops")
"""What only a user may allow, not a file of a repository: to overwrite files, and to execute code."""
_REQUIRED = ("rules", "reason")
_GLOBS: Mapping[str, tuple[str, ...]] = {"per-file-ignores": ("path",), "per-layer-ignores": ("layer", "type", "path")}


class ConfigurableCommand(click.Command):
    """A command whose options may be set in the nearest pyproject.toml, by their long names.

    The object of its context holds the ignores from that file. `like` is a command whose options may stand there, too.
    """

    def __init__(self, *given: Any, like: click.Command | None = None, **more: Any) -> None:
        super().__init__(*given, **more)
        self.like = like or self

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read pyproject.toml for the defaults first, unless for --help or completion, which must not fail."""
        options = args[: args.index("--")] if "--" in args else args
        unread = extra.get("resilient_parsing") or {"-h", "--help"} & set(options)
        defaults, ignores = ({}, ()) if unread else self._configuration()
        return super().make_context(info_name, args, parent, default_map=defaults, obj=ignores, **extra)

    def _configuration(self) -> tuple[dict[str, Any], tuple[Ignore, ...]]:
        """Return the defaults of the options, and the ignores."""
        if not (found := configuration()):
            return {}, ()
        (path,) = found
        table = _table(path)
        ignores = _read_ignores(path, table) if table.keys() & _GLOBS.keys() else ()
        table = {key: value for key, value in table.items() if key not in _GLOBS}
        options = {_key(option): option for option in self.like.params if isinstance(option, click.Option)}
        for name in _BY_USERS_ONLY:
            options.pop(name, None)
        for key, value in table.items():
            if key not in options:
                known = ", ".join(sorted((*options, *_GLOBS)))
                raise FileProblem(f"{path}: [tool.ov_gather] {key} is unknown; there are {known}")
            _check(path, key, value, options[key])
        own = {option.name for option in self.params}
        return {str(options[key].name): value for key, value in table.items() if options[key].name in own}, ignores


def configuration() -> list[Path]:
    """Return the nearest pyproject.toml, if there is one."""
    here = Path.cwd()
    candidates = (directory / "pyproject.toml" for directory in (here, *here.parents))
    return [candidate for candidate in candidates if candidate.is_file()][:1]


def _key(option: click.Option) -> str:
    """Return the name of an option in pyproject.toml, e.g. "min-severity"."""
    return max(option.opts, key=len).removeprefix("--")


def _table(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    if b"ov_gather" not in content:
        return {}  # no table of ours, so ignore any syntax errors
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document = tomllib.loads(content.decode())
    except ValueError as error:
        raise FileProblem(f"{path}: {error}") from error
    except RecursionError:
        raise FileProblem(f"{path}: nested too deeply") from None
    table = document.get("tool", {})
    table = table.get("ov_gather", {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise FileProblem(f"{path}: tool.ov_gather must be a table")
    return table


def _check(path: Path, key: str, value: Any, option: click.Option) -> None:
    """Raise FileProblem for a value of the wrong type. Click would accept "no" as a flag, and a string as an array."""
    wanted = list if option.multiple else bool if option.is_flag else _TYPES.get(type(option.type), str)
    if value == "auto" and isinstance(option.type, Jobs):
        return
    items = value if isinstance(value, list) else ()
    value = float(value) if wanted is float and type(value) is int else value
    if type(value) is not wanted or not all(isinstance(item, str) for item in items):
        raise FileProblem(f"{path}: [tool.ov_gather] {key} must be {_NAMES[wanted]}, not {value!r}")
    try:
        option.type_cast_value(click.Context(click.Command(None)), value)
    except click.BadParameter as error:
        raise FileProblem(f"{path}: [tool.ov_gather] {key}: {error.message}") from error


def _read_ignores(path: Path, table: Mapping[str, Any]) -> tuple[Ignore, ...]:
    """Return the entries of both arrays. Raises FileProblem, which names the file and the entry."""
    return tuple(
        _ignore(path, f"{path}: [[tool.ov_gather.{key}]]", key, entry)
        for key in _GLOBS
        for entry in _entries(path, key, table.get(key, []))
    )


def _entries(path: Path, key: str, value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        return value
    raise FileProblem(f"{path}: [tool.ov_gather] {key} must be an array of tables: write [[tool.ov_gather.{key}]] before each")


def _ignore(path: Path, place: str, key: str, entry: Mapping[str, Any]) -> Ignore:
    from ov_gather.rules.selection import select_rules
    from ov_gather.rules.suppression import Ignore

    globs = _GLOBS[key]
    for name, value in entry.items():
        if name not in (*_REQUIRED, *globs):
            raise FileProblem(f"{place} {name} is unknown; there are {', '.join((*_REQUIRED, *globs))}")
        if name != "rules" and not (isinstance(value, str) and value):
            raise FileProblem(f"{place} {name} must be a string, not {value!r}")
    missing = next((name for name in _REQUIRED if name not in entry), "")
    if missing or not entry.keys() & set(globs[:2]):
        raise FileProblem(f"{place} {dict(entry)}: needs {missing or ' or '.join(globs[:2])}")
    rules = entry["rules"]
    if not (isinstance(rules, list) and rules and all(isinstance(rule, str) for rule in rules)):
        raise FileProblem(f"{place} rules must be an array of rules and groups, not {rules!r}")
    try:
        select_rules(rules)
    except ValueError as error:
        raise FileProblem(f"{place} {error}") from None
    return Ignore(tuple(rules), entry["reason"], path.parent, **{name: entry[name] for name in globs if name in entry})

"""The formats of written guards, by the suffix of the file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from ov_gather.guards import cpp_header, json_schema, python_file
from ov_gather.guards.written import WrittenModel, identifiers, written_model
from ov_gather.ranges.requests import RequestTerms


def render(terms: RequestTerms, model: Path, data: Collection[Path], output: Path) -> str:
    """Return the text of a guard in the format that the suffix of `output` names. Raises KeyError, OSError.

    `data` are the files of external data of the model.
    """
    return _FORMATS[output.suffix](terms, written_model(model, data), output)


def _header(terms: RequestTerms, model: WrittenModel, output: Path) -> str:
    (name,) = identifiers([output.stem]).values()
    return cpp_header.render(terms, model, name if name.endswith("guard") else f"{name}_guard")


_FORMATS: dict[str, Callable[[RequestTerms, WrittenModel, Path], str]] = {
    ".py": lambda terms, model, _: python_file.render(terms, model),
    ".json": lambda terms, model, _: json_schema.render(terms, model),
    ".hpp": _header,
}

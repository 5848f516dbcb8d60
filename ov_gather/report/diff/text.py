"""Text report of `ov-gather diff`: a table of changes, and a summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ov_gather.ir.differences.changes import Differences, IRChange, changes_table

if TYPE_CHECKING:
    from rich.table import Table

_FEW = 3
"""Up to this many changes that are alike are listed one by one."""
_NAME_OR_NUMBER = re.compile(r"'.*'|-?[0-9][-+.,0-9e]*")
"""What changes that are alike may differ in, beside attributes: names, sizes, elements."""


def render(found: Differences, *, verbose: bool = False) -> Iterator[Table | str]:
    """Yield the parts in the order of printing.

    Many changes that say the same of layers of one type are one row. `verbose` lists each, and types and shapes that follow.
    """
    every = [*found.changes, *found.consequences] if verbose else found.changes
    if every:
        yield changes_table([[change] for change in every] if verbose else _alike(every))
    yield summary(found)


def _alike(changes: Sequence[IRChange]) -> list[list[IRChange]]:
    """Group changes that are alike, at the first of them, if there are more than _FEW."""
    groups: dict[tuple[str, ...], list[IRChange]] = {}
    for change in changes:
        place, texts = change.a or change.b, [change.what, change.before, change.after]
        if change.kind != "attribute":
            texts[change.kind == "input" :] = [_NAME_OR_NUMBER.sub("", text) for text in texts[change.kind == "input" :]]
        groups.setdefault((change.kind, place.layer_type if place else "", *texts), []).append(change)
    rows = [[group] if len(group) > _FEW else [[change] for change in group] for group in groups.values()]
    return [row for some in rows for row in some]


def summary(found: Differences) -> str:
    """Return the number of changes by kind, of types and shapes that follow from them, and of unchanged layers."""
    same = "1 layer is the same" if found.same == 1 else f"{found.same} layers are the same"
    if found.passed:
        return f"no difference: {same}"
    counts = Counter(change.kind for change in found.changes)
    parts = [", ".join(f"{count} {_name(kind, count)}" for kind, count in counts.items())]
    if found.consequences:
        count = len(found.consequences)
        parts.append(f"{count} type{' or shape follows' if count == 1 else 's and shapes follow'} from these")
    return "; ".join([*parts, same])


def _name(kind: str, count: int) -> str:
    return kind if kind in ("removed", "added") or count == 1 else f"{kind}s"

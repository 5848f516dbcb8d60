"""Text report of `ov-gather diff`: a table with one row per change, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ov_gather.ir.differences.changes import Differences, changes_table

if TYPE_CHECKING:
    from rich.table import Table


def render(found: Differences, *, with_consequences: bool = False) -> Iterator[Table | str]:
    """Yield the parts in the order of printing. `with_consequences` also lists types and shapes that follow from a change."""
    listed = [*found.changes, *(found.consequences if with_consequences else ())]
    if listed:
        yield changes_table(listed)
    yield summary(found)


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

"""What `python tests/tools/evidence.py` measures: a module each."""

from collections.abc import Collection, Sequence


def chosen(names: Sequence[str], known: Collection[str]) -> Sequence[str]:
    """Return the names, or all known ones if there are none. Raises ValueError for an unknown name."""
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no {', '.join(unknown)}; there are {', '.join(known)}")
    return names or list(known)

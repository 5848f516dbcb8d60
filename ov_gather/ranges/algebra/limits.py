"""Upper bounds of polynomials, such as the element counts of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.system.traversal import reachable


class Limits:
    """Polynomials with upper bounds, indexed by the names in them.

    Args:
        beneath: an underlying layer of limits that also hold.
    """

    def __init__(self, beneath: Limits | None = None) -> None:
        self._beneath = beneath
        self._by_name: dict[str, dict[Polynomial, int]] = {}

    def add(self, polynomial: Polynomial, bound: int) -> None:
        """Add an upper bound of a polynomial."""
        for name in polynomial.names:
            known = self._by_name.setdefault(name, {})
            known[polynomial] = min(bound, known.get(polynomial, bound))

    def about(self, name: str) -> Iterator[tuple[Polynomial, int]]:
        """Yield the limited polynomials that contain a name, with their bounds."""
        yield from self._by_name.get(name, {}).items()
        if self._beneath is not None:
            yield from self._beneath.about(name)

    def with_conditions(self, same: Mapping[str, Polynomial], limits: Mapping[Polynomial, int]) -> Limits:
        """Return these limits together with `limits`; limits of names in `same` are added with the names substituted, too."""
        if not same and not limits:
            return self
        found = Limits(self)
        for name in same:
            for polynomial, bound in self.about(name):
                found.add(polynomial.with_values(same), bound)
        for polynomial, bound in limits.items():
            found.add(polynomial, bound)
        return found

    def related(self, names: Iterable[str]) -> set[str]:
        """Return the names, and transitively all that share a limited polynomial with one of them."""
        return set(reachable(names, lambda name: (other for polynomial, _ in self.about(name) for other in polynomial.names)))
